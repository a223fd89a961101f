import { fitted, printable } from "./printable.ts";

/** Minimum time between two drawings; people don't notice more than a few per second. */
const REDRAW_MILLISECONDS = 250;

/** The stream that a board draws on: standard error, or a test's stream. */
export interface ScreenStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

export interface ProgressRow {
  /** Updates the row. @param percent 0 to 100; null if it can't be measured */
  show(step: string, percent: number | null): void;
  /** Removes the row. */
  end(): void;
}

/**
 * Progress rows at the bottom of a terminal, one for each recording, redrawn a few times per second. Other output
 * appears above them. In a pipe, nothing is printed. The board uses no colours and does not hide the cursor, so a
 * killed process leaves the terminal in a normal state.
 */
export class ProgressBoard implements Disposable {
  readonly #stream: ScreenStream;
  readonly #redrawMilliseconds: number;
  /** `live`: lines can be redrawn; `plain`: a terminal without redrawing, one line per step; `none`: a pipe or file. */
  readonly #kind: "live" | "plain" | "none";
  /** Whether the locale is UTF-8, so that the terminal can show characters beyond ASCII. */
  readonly #unicode: boolean;
  readonly #rows: RowState[] = [];
  #drawn: string[] = [];
  #timer: Timer | undefined;
  #drawnAt = Number.NEGATIVE_INFINITY;
  readonly #resized = () => this.#draw();

  /** @param redrawMilliseconds minimum time between two drawings */
  constructor(
    stream: ScreenStream = process.stderr,
    environment: NodeJS.ProcessEnv = process.env,
    redrawMilliseconds = REDRAW_MILLISECONDS,
  ) {
    this.#stream = stream;
    this.#redrawMilliseconds = redrawMilliseconds;
    const { TERM, LC_ALL, LC_CTYPE, LANG } = environment;
    this.#kind = stream.isTTY !== true ? "none" : TERM === "dumb" || !TERM ? "plain" : "live";
    this.#unicode = /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "");
    if (this.#kind === "live") stream.on?.("resize", this.#resized);
  }

  row(label: string): ProgressRow {
    const row: RowState = { label: printable(label), step: "", percent: null };
    this.#rows.push(row);
    return {
      show: (step, percent) => this.#show(row, printable(step), percent),
      end: () => {
        const index = this.#rows.indexOf(row);
        if (index >= 0) this.#rows.splice(index, 1);
        if (this.#kind === "live") this.#draw();
      },
    };
  }

  /** Prints a permanent line for people; in a pipe, prints nothing. */
  note(text: string): void {
    if (this.#kind !== "none") this.above(() => this.#stream.write(`${printable(text)}\n`));
  }

  /** Removes the rows, calls `print`, and draws the rows again below its output. */
  above(print: () => void): void {
    this.#clear();
    print();
    if (this.#kind === "live") this.#draw();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#rows.splice(0);
    this.#clear();
    this.#stream.off?.("resize", this.#resized);
  }

  #show(row: RowState, step: string, percent: number | null): void {
    const isNewStep = step !== row.step;
    if (!isNewStep && percent === row.percent) return;
    row.step = step;
    row.percent = percent;
    if (this.#kind === "plain" && isNewStep) this.#stream.write(`${row.label}: ${row.step}\n`);
    if (this.#kind !== "live" || this.#timer !== undefined) return;
    const wait = Math.max(0, this.#drawnAt + this.#redrawMilliseconds - performance.now());
    this.#timer = setTimeout(() => this.#draw(), wait);
    this.#timer.unref();
  }

  /** Draws all rows in one write, to avoid flicker; writes nothing if no row changed. */
  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#drawnAt = performance.now();
    const lines = this.#lines();
    if (lines.join("\n") === this.#drawn.join("\n")) return;
    const text = lines.map((line) => `${line}\x1b[K\n`).join("");
    this.#stream.write(`${this.#toTop()}${text}\x1b[J`);
    this.#drawn = lines;
  }

  #clear(): void {
    if (this.#drawn.length > 0) this.#stream.write(`${this.#toTop()}\x1b[J`);
    this.#drawn = [];
  }

  /** Returns the escape sequence to the first drawn line. A terminal that became narrower has wrapped the lines. */
  #toTop(): string {
    const columns = this.#columns;
    const lines = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(Bun.stringWidth(line) / columns)), 0);
    return lines === 0 ? "\r" : `\r\x1b[${lines}A`;
  }

  #lines(): string[] {
    const shown = this.#rows.filter((row) => row.step !== "");
    const space = Math.max(1, (this.#stream.rows ?? 24) - 2);
    const visible = shown.length > space ? shown.slice(0, space - 1) : shown;
    const labelColumns = Math.max(0, ...visible.map((row) => Bun.stringWidth(row.label)));
    // The last column stays free, because some terminals start a new line as soon as it is filled.
    const lines = visible.map((row) => rowText(row, labelColumns, this.#columns - 1, this.#unicode));
    return shown.length > visible.length ? [...lines, `and ${shown.length - visible.length} more`] : lines;
  }

  get #columns(): number {
    return Math.max(20, this.#stream.columns ?? 80);
  }
}

/** Progress of one task. */
interface RowState {
  readonly label: string;
  step: string;
  /** 0 to 100; null if it can't be measured. */
  percent: number | null;
}

const BAR_COLUMNS = 20;
const PERCENT_COLUMNS = "100 %".length;
const STEP_COLUMNS = "Speaker diarization".length;
const MIN_LABEL_COLUMNS = 8;

/** Formats a row of at most `columns` columns: label, bar, percent, step. A narrow terminal gets no bar. */
function rowText(row: RowState, labelColumns: number, columns: number, unicode: boolean): string {
  const percent = (row.percent === null ? (unicode ? "…" : "..") : `${Math.floor(row.percent)} %`).padStart(
    PERCENT_COLUMNS,
  );
  const space = columns - PERCENT_COLUMNS - STEP_COLUMNS - BAR_COLUMNS - 6;
  const parts =
    space >= MIN_LABEL_COLUMNS
      ? [padded(row.label, Math.min(labelColumns, space)), bar(row.percent ?? 0, unicode), percent, row.step]
      : [padded(row.label, Math.max(MIN_LABEL_COLUMNS, Math.min(labelColumns, columns - 28))), percent, row.step];
  return fitted(parts.join("  "), columns);
}

function bar(percent: number, unicode: boolean): string {
  const filled = Math.max(0, Math.min(BAR_COLUMNS, Math.floor((percent * BAR_COLUMNS) / 100)));
  return (unicode ? "█" : "#").repeat(filled) + (unicode ? "░" : "-").repeat(BAR_COLUMNS - filled);
}

/** Shortens or pads a text to a width. Wide characters take two columns, which `padEnd` does not consider. */
function padded(text: string, columns: number): string {
  const short = fitted(text, columns);
  return short + " ".repeat(Math.max(0, columns - Bun.stringWidth(short)));
}
