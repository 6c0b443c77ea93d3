/**
 * One sentence for each chart that says what it means; page and docs show it under the chart. Sentences name no figure,
 * which a new run would change.
 */
export const MEANINGS: Readonly<Record<string, string>> = {
  "overview":
    "While calls follow each other, heddle is many times faster than libraries that post messages; with a pause of 10 ms before each call it takes about as long as a bare worker; at the start of a program a bare worker is faster.",
  "hot":
    "Left of the dashed line calls take less time than by a bare worker. One at a time no thread is woken; a hundred at once share their wakes.",
  "adapter":
    "The same program with another import: left of the dashed line tasks take less time than by Piscina.",
  "processes":
    "Left of the dashed line calls of a process take less time than by a bare fork with its messages as JSON. One at a time the wakes of two processes decide; a hundred at once share them.",
  "ipc-1":
    "One message at a time: heddle needs no wake of a thread, and every way that posts messages does.",
  "ipc-100":
    "A hundred messages at once: wakes are shared, so what remains is the cost of each message itself.",
  "latency":
    "A line that stays low on the left answers single calls soon; a line that rises slowly handles many calls at once well. The dashed line is what bare rings and promises cost.",
  "heavy-load":
    "Bars near the dashed line use their cores fully; the outlined bars are the same split written by hand.",
  "tokio":
    "Tokio moves values between threads of Rust without an engine; it marks what is possible.",
  "idle-cost":
    "A pool without work should cost no more than threads that do nothing; small differences between the bars do not matter.",
  "idle-cost-awaiting":
    "A host that awaits long tasks should sleep; what the bars show beyond that is spinning.",
  "burst":
    "The time of each call when very many are made at once: dots at one height mean that a large burst costs no more for each call than a small one.",
  "burst-timers":
    "How long a large burst keeps the host's event loop from its timers; lower leaves the program more responsive.",
  "mixed-load":
    "How much longer short calls take beside a long task: a ratio of one means that they are not disturbed.",
  "fan-out":
    "A ratio of one is a perfect split over the workers; very short tasks stay on one worker because a wake would cost more.",
  "cold":
    "What a program waits for before it has its first answer: heddle loads more code than a bare worker does.",
  "cold-calls":
    "The first calls run in code that the engine has not compiled yet; right of the dashed line they take longer than by a bare worker.",
  "memory": "What a process with one worker occupies; most of it is the runtime itself.",
  "streams":
    "Numbers travel many to a record, so an item costs a fraction of a message; large bytes are copied twice, where a message clones them once.",
  "nats":
    "The server and the sockets take most of a call; heddle adds names, limits and a hop to a thread, which keeps the event loop free.",
  "nats-machines":
    "The machine has two cores, so a third process finds none: more machines, not more processes, are what this is for.",
  "shared-map":
    "A worker reads a shared map by itself; a call needs another thread to answer. A `Map` of one thread neither decodes nor copies.",
  "shared-channel":
    "The raw ring is what passing a number costs without encoding, ends and waiting; channels of Go and Rust share their heap, so they move values without encoding them.",
  "shared-mutex":
    "A mutex of heddle is handed over in turn, and those of Go and Rust may be taken again by the thread that has just released them.",
  "browser-calls":
    "Calls that are made at once share wakes and messages; one at a time, on two cores that the browser needs as well, shared memory takes about what a bare worker does.",
  "soak-latency":
    "One number after each round of mixed calls: its time goes up and down from minute to minute, most on Deno, and does not keep growing.",
  "soak-memory":
    "Memory grows on Node and Deno for ten minutes and hardly on Bun. A run of this length does not tell late garbage collections from a slow leak; `npm run test:leaks` looks for leaks.",
  "http-soak-rate":
    "Requests answered minute by minute: on Node and Deno the rate stays after the first minute; on Bun, whose run was on a busy machine, it fell by half in the sixth.",
  "http-soak-latency":
    "The slowest of the light requests minute by minute: on Bun they became slower when the rate fell.",
  "http-soak-memory":
    "Memory of the server minute by minute: it goes up and down by a fifth and does not keep growing.",
  "http":
    "What servers answer with one thread and with workers that each listen; on two cores the client takes its share.",
  "http-mixed":
    "Light requests suffer if heavy ones compute on the same thread; with a pool they are answered in time.",
  "http-mixed-rate": "A pool uses the second core for heavy requests, so that more are answered.",
  "http-websocket": "Echoes over many connections do not compute, so workers add little here.",
  "concurrency":
    "Tasks that wait for a network need no threads: compare the event loop alone with workers before adding them.",
  "concurrency-memory":
    "Each thread has an engine of its own, which costs memory that an event loop does not.",
  "concurrency-processor":
    "When tasks compute after each response, only programs with threads use more than one core.",
  "programs":
    "Whole small programs, start included: the languages differ more than the ways to run workers.",
  "types-1":
    "One call of each kind of value: where the dot of heddle is left of that of postMessage, its encoding or its missing wake wins.",
  "types-100":
    "A hundred calls of each kind at once: wakes hardly count, so the dots compare how values are encoded.",
  "payload-growth":
    "From some size on both copy memory as fast as the machine can, and the lines meet.",
  "codec":
    "The encoding alone, in one thread: left of the dashed line a value is written and read sooner than by `structuredClone`.",
  "clients":
    "Real programs and the same with an override of npm: left of the dashed line they take less. Most of their time is their own, so what differs is mostly the start of workers.",
  "sporadic":
    "With pauses between calls every library has to wake a sleeping thread; left of the dashed line calls are done sooner than by a bare worker.",
  "sporadic-cpu":
    "The processor time that a call costs, spins included: right of the dashed line more than by a bare worker. Here a low latency is paid for.",
  "contended":
    "With fewer cores than threads, calls made together still share their wakes; with pauses between them a call takes somewhat longer than by a bare worker.",
  "lateness":
    "From the end of a task until its caller continues: short tasks are answered while the host spins, long ones by a wake.",
  "thread-sweep":
    "Level lines mean that more threads do not slow small calls down, because only as many as needed are awake.",
};

const NAMES = Object.keys(MEANINGS).sort((a, b) => b.length - a.length);

/** The sentence of a chart, by its name: that of the longest beginning. */
export function meaningOf(chart: string): string {
  const name = NAMES.find((each) => chart === each || chart.startsWith(`${each}-`));
  if (name === undefined) throw new Error(`graphs/meanings.ts has no sentence for ${chart}`);
  return MEANINGS[name]!;
}
