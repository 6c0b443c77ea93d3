/** Output as whole lines. */

/** Longest beginning of a line that is held back, in characters. */
const MAX_HELD = 64 * 1024;

/** Holds the beginning of a line until its end comes, or it is long. */
export class OutputLines {
  #parts: string[] = [];
  #length = 0;

  /** Adds text. Returns what is whole, with all that was held back before it; "": nothing. */
  add(text: string): string {
    const end = text.lastIndexOf("\n") + 1;
    if (end === 0 && this.#length + text.length < MAX_HELD) {
      this.#hold(text);
      return "";
    }
    const whole = this.take() + (end === 0 ? text : text.slice(0, end));
    if (end > 0 && end < text.length) this.#hold(text.slice(end));
    return whole;
  }

  #hold(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
  }

  /** Takes what is held back; "": nothing. */
  take(): string {
    const held = this.#parts.join("");
    this.#parts = [];
    this.#length = 0;
    return held;
  }
}
