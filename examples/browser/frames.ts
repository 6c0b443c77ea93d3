/** Draws the time between frames: what a person feels of the work of a page. */
const SHOWN = 180;
/** A bar as high as the chart. */
const MOST_MS = 100;

export class Frames {
  /** Milliseconds between frames, the latest last. */
  readonly gaps: number[] = [];
  readonly #canvas: HTMLCanvasElement;
  readonly #label: HTMLElement;
  #lastMs = 0;

  constructor(canvas: HTMLCanvasElement, label: HTMLElement) {
    this.#canvas = canvas;
    this.#label = label;
    requestAnimationFrame((nowMs) => this.#frame(nowMs));
  }

  #frame(nowMs: number): void {
    requestAnimationFrame((nextMs) => this.#frame(nextMs));
    if (this.#lastMs > 0) this.gaps.push(nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#draw();
  }

  #draw(): void {
    const { gaps } = this;
    const context = this.#canvas.getContext("2d")!;
    const { width, height } = this.#canvas;
    context.clearRect(0, 0, width, height);
    const shown = gaps.slice(-SHOWN);
    const step = width / SHOWN;
    for (const [index, gap] of shown.entries()) {
      const bar = Math.min(1, gap / MOST_MS) * height;
      context.fillStyle = gap > 50 ? "#d9480f" : gap > 34 ? "#f59f00" : "#2f9e44";
      context.fillRect(index * step, height - bar, Math.max(1, step - 1), bar);
    }
    const longest = Math.max(0, ...shown);
    this.#label.textContent = `at most ${longest.toFixed(0)} ms`;
  }
}
