import type { LiveEvent, LiveSegment } from "../../../../sdk/typescript/src/index.ts";
import type { ScreenStream } from "../../progress-board.ts";
import { transcriptText, wrapped } from "../../recording-texts.ts";

/** Time for which final words wait for their speaker after the end of their turn. */
const HOLD_MILLISECONDS = 3000;
/** Column of the text in a line of a transcript: after its times and a short speaker. */
const TEXT_COLUMN = "0:00.0 – 0:00.0    S1  ".length;
const MIN_TEXT_COLUMNS = 20;
/** Width of a pipe, and of a terminal that does not tell its own. */
const WIDE_COLUMNS = 100;
const [DIM, NORMAL] = ["\x1b[2m", "\x1b[0m"];

/**
 * Shows the words of a session to people: final ones as lines with time and speaker, in order. A terminal also shows
 * final words that wait for their speaker, and below them, dim, the words that may change; both are rewritten in place.
 */
export class LiveScreen implements Disposable {
  readonly #stream: ScreenStream;
  /** Whether lines can be rewritten. */
  readonly #isTerminal: boolean;
  readonly #holdMilliseconds: number;
  /** Final segments that wait for their speaker. */
  #held: LiveSegment[] = [];
  #partial = "";
  #note = "";
  #drawn: string[] = [];
  #timer: Timer | undefined;

  constructor(
    stream: ScreenStream = process.stdout,
    environment: NodeJS.ProcessEnv = process.env,
    holdMilliseconds = HOLD_MILLISECONDS,
  ) {
    this.#stream = stream;
    this.#holdMilliseconds = holdMilliseconds;
    this.#isTerminal = stream.isTTY === true && environment.TERM !== undefined && environment.TERM !== "dumb";
  }

  show(event: LiveEvent): void {
    switch (event.type) {
      case "partial":
        this.#partial = event.text;
        break;
      case "final":
        this.#held.push(event.segment);
        this.#partial = "";
        this.#print(this.#labelled());
        break;
      case "speakers":
        this.#name(event.speakers);
        this.#print(this.#labelled());
        break;
      case "turn_completed":
      case "turn_failed":
        this.#partial = "";
        this.#printSoon();
        break;
      case "ended":
        this.#partial = "";
        this.#print(this.#held.length);
        break;
    }
    this.#draw();
  }

  /** Shows a note below the words, on a terminal; an empty one removes it. */
  note(text: string): void {
    this.#note = text;
    this.#draw();
  }

  /** Prints the final words that wait, and removes what may change. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#partial = "";
    this.#note = "";
    this.#print(this.#held.length);
    this.#draw();
  }

  #name(speakers: readonly { readonly segment: number; readonly speaker: string }[]): void {
    const names = new Map(speakers.map(({ segment, speaker }) => [segment, speaker]));
    this.#held = this.#held.map((each) => ({ ...each, speaker: names.get(each.number) ?? each.speaker }));
  }

  /** Returns the number of the first segments that have a speaker, or one that has follows them. */
  #labelled(): number {
    return this.#held.findLastIndex(({ speaker }) => speaker !== null) + 1;
  }

  /** Prints what waits now after a time, whether it has speakers or not. */
  #printSoon(): void {
    const last = this.#held.at(-1)?.number ?? -1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#print(this.#held.filter(({ number }) => number <= last).length);
      this.#draw();
    }, this.#holdMilliseconds);
  }

  #print(count: number): void {
    if (count === 0) return;
    const text = this.#textOf(this.#held.splice(0, count));
    this.#clear();
    this.#stream.write(text);
  }

  #textOf(segments: readonly LiveSegment[]): string {
    return transcriptText(
      segments.map((segment) => ({ ...segment, speaker: segment.speaker ?? "- " })),
      this.#stream.columns || WIDE_COLUMNS,
    );
  }

  /** Draws what may change in one write, to avoid flicker; writes nothing if nothing changed. */
  #draw(): void {
    if (!this.#isTerminal) return;
    const lines = this.#lines();
    if (lines.join("\n") === this.#drawn.join("\n")) return;
    this.#stream.write(`${this.#toTop()}${lines.map((line) => `${line}\x1b[K\n`).join("")}\x1b[J`);
    this.#drawn = lines;
  }

  #clear(): void {
    if (this.#drawn.length > 0) this.#stream.write(`${this.#toTop()}\x1b[J`);
    this.#drawn = [];
  }

  /** Returns the escape sequence to the first drawn line. A terminal that became narrower has wrapped the lines. */
  #toTop(): string {
    const columns = this.#columns;
    const rows = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(Bun.stringWidth(line) / columns)), 0);
    return rows === 0 ? "\r" : `\r\x1b[${rows}A`;
  }

  /** Returns the last lines that fit the terminal. */
  #lines(): string[] {
    const held = this.#held.length > 0 ? this.#textOf(this.#held).trimEnd().split("\n") : [];
    const indent = this.#columns - TEXT_COLUMN < MIN_TEXT_COLUMNS ? 0 : TEXT_COLUMN;
    const dim = (text: string, indent: number) => {
      const lines = text === "" ? [] : wrapped(text, this.#columns - indent - 1);
      return lines.map((line) => `${" ".repeat(indent)}${DIM}${line}${NORMAL}`);
    };
    const lines = [...held, ...dim(this.#partial, indent), ...dim(this.#note, 0)];
    return lines.slice(-Math.max(1, (this.#stream.rows ?? 24) - 2));
  }

  get #columns(): number {
    return Math.max(20, this.#stream.columns || WIDE_COLUMNS);
  }
}
