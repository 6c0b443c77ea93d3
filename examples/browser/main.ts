/** Primes and a Mandelbrot set over all cores, in a page that stays smooth. */
import { createPool, type Pool } from "heddle/browser";
import { Frames } from "./frames.ts";
import * as tasks from "./tasks.ts";
import { bandsOf, rangesTo, type View, WHOLE } from "./work.ts";

const element = <Kind extends HTMLElement>(id: string): Kind => document.getElementById(id) as Kind;

const canvas = element<HTMLCanvasElement>("image");
const workers = element<HTMLInputElement>("workers");
const start = element<HTMLButtonElement>("start");
const progress = element<HTMLProgressElement>("progress");
const status = element("status");
const blocking = element<HTMLInputElement>("blocking");
const frames = new Frames(element("frames"), element("longest"));

const PRIMES_BELOW = 400_000_000;

workers.max = String(Math.max(2, navigator.hardwareConcurrency));
workers.value = String(navigator.hardwareConcurrency);

let pool = open(workers.valueAsNumber);
let running: AbortController | undefined;
let view: View = WHOLE;

function open(threads: number): Pool<typeof tasks> {
  const pool = createPool({ threads })<typeof tasks>(
    () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" }),
  );
  const { transport } = pool.stats();
  element("transport").textContent = transport === "shared"
    ? "shared memory"
    : "messages: this page is not cross-origin isolated";
  element("count").textContent = String(threads);
  return pool;
}

/** The items, each as soon as it is computed: by the workers, or by this thread, which freezes the page. */
async function* run<Item, Result>(
  call: (item: Item) => Promise<Result>,
  own: (item: Item) => Result,
  items: readonly Item[],
  signal: AbortSignal,
): AsyncGenerator<Result> {
  if (blocking.checked) { for (const item of items) yield own(item); }
  else yield* pool.map(call, items, { signal, ordered: false });
}

async function drawSet(signal: AbortSignal): Promise<string> {
  const context = canvas.getContext("2d")!;
  const bands = bandsOf(view, canvas.width, canvas.height);
  progress.max = bands.length;
  for await (const band of run(pool.call.mandelbrot, tasks.mandelbrot, bands, signal)) {
    context.putImageData(new ImageData(band.pixels, canvas.width), 0, band.from);
    progress.value++;
  }
  return `${(canvas.width * canvas.height / 1e6).toFixed(1)} million points`;
}

async function findPrimes(signal: AbortSignal): Promise<string> {
  const ranges = rangesTo(PRIMES_BELOW);
  progress.max = ranges.length;
  let primes = 0;
  for await (const count of run(pool.call.countPrimes, tasks.countPrimes, ranges, signal)) {
    primes += count;
    progress.value++;
    status.textContent = `${primes.toLocaleString()} primes so far`;
  }
  return `${primes.toLocaleString()} primes below ${PRIMES_BELOW.toLocaleString()}`;
}

async function begin(): Promise<void> {
  running = new AbortController();
  start.textContent = "Cancel";
  progress.value = 0;
  status.textContent = "working …";
  const startMs = performance.now();
  const isSet = element<HTMLInputElement>("mandelbrot").checked;
  document.body.dataset["program"] = isSet ? "mandelbrot" : "primes";
  try {
    const result = await (isSet ? drawSet : findPrimes)(running.signal);
    const seconds = ((performance.now() - startMs) / 1000).toFixed(2);
    const where = blocking.checked ? "this page's thread" : `${workers.value} workers`;
    status.textContent = `${result} in ${seconds} s on ${where}`;
    log(`${result}: ${seconds} s, ${where}`);
  } catch (error) {
    if (!running.signal.aborted) throw error;
    status.textContent = "cancelled";
  } finally {
    running = undefined;
    start.textContent = "Start";
  }
}

/** The last results, to compare numbers of workers. */
function log(line: string): void {
  const item = document.createElement("li");
  item.textContent = line;
  const list = element("log");
  list.prepend(item);
  while (list.children.length > 5) list.lastChild!.remove();
}

start.addEventListener("click", () => {
  if (running === undefined) void begin();
  else running.abort();
});
workers.addEventListener("change", () => {
  running?.abort();
  void pool.shutdown(0);
  pool = open(workers.valueAsNumber);
});
workers.addEventListener("input", () => element("count").textContent = workers.value);
canvas.addEventListener("click", ({ offsetX, offsetY }) => {
  const step = view.span / canvas.clientWidth;
  view = {
    x: view.x + (offsetX - canvas.clientWidth / 2) * step,
    y: view.y + (offsetY - canvas.clientHeight / 2) * step,
    span: view.span / 4,
  };
  if (running === undefined) void begin();
});
element("whole").addEventListener("click", () => {
  view = WHOLE;
  if (running === undefined) void begin();
});

Object.assign(globalThis, { frameTimes: frames }); // for the test
void begin();
