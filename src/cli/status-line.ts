const redrawMilliseconds = 500;
const barColumns = 24;

/** One line at the bottom of a terminal that says what happens now, removed at the end. A pipe receives nothing. */
export class StatusLine implements Disposable {
  readonly #live = process.stderr.isTTY === true && process.env.TERM !== "dumb";
  #isDrawn = false;

  show(text: string): void {
    if (!this.#live) return;
    this.#isDrawn = true;
    process.stderr.write(`\r${text.slice(0, Math.max(20, process.stderr.columns || 80) - 1)}\x1b[K`);
  }

  [Symbol.dispose](): void {
    if (this.#isDrawn) process.stderr.write("\r\x1b[K");
    this.#isDrawn = false;
  }
}

/** A status line with the progress of a transfer in bytes. */
export class TransferLine implements Disposable {
  readonly #line = new StatusLine();
  #doing = "";
  #startedAt = 0;
  #startedWith = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;

  /** @param total null while unknown */
  show(doing: string, done: number, total: number | null): void {
    const now = performance.now();
    if (doing !== this.#doing) [this.#doing, this.#startedAt, this.#startedWith] = [doing, now, done];
    if (now - this.#drawnAt < redrawMilliseconds) return;
    this.#drawnAt = now;
    const rate = (1000 * (done - this.#startedWith)) / Math.max(1, now - this.#startedAt);
    this.#line.show(transferText({ doing, done, total, rate }));
  }

  [Symbol.dispose](): void {
    this.#line[Symbol.dispose]();
  }
}

/** Formats progress, e.g. `whisper-small: download [#####     ]  21 %  98 of 466 MiB, 5.4 MiB/s, 68 s left`. */
export function transferText(at: {
  readonly doing: string;
  readonly done: number;
  readonly total: number | null;
  /** Bytes per second. */
  readonly rate: number;
}): string {
  const { doing, done, total, rate } = at;
  const mebibytes = (bytes: number, digits = 0) => (bytes / 1024 / 1024).toFixed(digits);
  const speed = rate > 0 ? `, ${mebibytes(rate, 1)} MiB/s` : "";
  if (total === null || total <= 0) return `${doing}  ${mebibytes(done)} MiB${speed}`;
  const share = Math.min(1, done / total);
  const bar = "#".repeat(Math.floor(share * barColumns)).padEnd(barColumns);
  const left = rate > 0 ? `, ${duration((total - done) / rate)} left` : "";
  return `${doing} [${bar}] ${String(Math.floor(100 * share)).padStart(3)} %  ${mebibytes(done)} of ${mebibytes(total)} MiB${speed}${left}`;
}

function duration(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
