import type { ScreenStream } from "../../src/cli/progress-board.ts";

/**
 * A small terminal that shows the result of everything that was written. It supports line feeds, carriage returns,
 * cursor up, and erasing to the end of a line and of the screen. Colours have no effect. Long lines continue in the next
 * row.
 */
export class Screen implements ScreenStream {
  readonly isTTY = true;
  columns: number;
  rows = 24;
  writes = 0;
  #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  readonly #listeners = new Set<() => void>();

  constructor(columns = 80) {
    this.columns = columns;
  }

  on(_event: "resize", listener: () => void): void {
    this.#listeners.add(listener);
  }

  off(_event: "resize", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Changes the width like a terminal: long lines are wrapped again, and the cursor stays at its character. */
  resize(columns: number): void {
    const rows: string[][] = [];
    let cursorRow = 0;
    for (const [index, line] of this.#lines.entries()) {
      if (index === this.#row) cursorRow = rows.length;
      for (let from = 0; from === 0 || from < line.length; from += columns) rows.push(line.slice(from, from + columns));
    }
    this.#lines = rows;
    this.#row = cursorRow;
    this.columns = columns;
    for (const listener of this.#listeners) listener();
  }

  write(text: string): void {
    this.writes += 1;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal reads escape sequences
    for (const [piece] of text.matchAll(/\x1b\[(\d*)([A-Za-z])|./gsu)) this.#take(piece);
  }

  /** The lines without empty ones at the end. */
  get text(): string {
    return this.#lines
      .map((line) => line.join("").trimEnd())
      .join("\n")
      .trimEnd();
  }

  #take(piece: string): void {
    if (piece === "\n") this.#row += 1;
    if (piece === "\r" || piece === "\n") this.#column = 0;
    else if (piece.endsWith("A") && piece.length > 1)
      this.#row = Math.max(0, this.#row - Number(piece.slice(2, -1) || 1));
    else if (piece === "\x1b[K") this.#line().splice(this.#column);
    else if (piece === "\x1b[J") {
      this.#line().splice(this.#column);
      this.#lines.splice(this.#row + 1);
    } else if (piece.startsWith("\x1b[") && piece.endsWith("m")) return;
    else if (piece.length > 1 && piece.startsWith("\x1b")) throw new Error(`unknown sequence ${JSON.stringify(piece)}`);
    else this.#put(piece);
  }

  #put(letter: string): void {
    if (letter < " ") throw new Error(`control character ${JSON.stringify(letter)}`);
    const width = Bun.stringWidth(letter);
    if (this.#column + width > this.columns) {
      this.#row += 1;
      this.#column = 0;
    }
    const line = this.#line();
    while (line.length < this.#column) line.push(" ");
    line.splice(this.#column, width, letter, ...Array.from({ length: width - 1 }, () => ""));
    this.#column += width;
  }

  #line(): string[] {
    while (this.#lines.length <= this.#row) this.#lines.push([]);
    return this.#lines[this.#row] ?? [];
  }
}
