const redrawMilliseconds = 500;
const barColumns = 24;

/** A progress line at the bottom of a terminal, removed at the end. In a pipe, nothing is printed. */
export class ProgressLine implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  readonly #live: boolean;
  #doing = "";
  #startedAt = 0;
  #startedWith = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
    this.#live = stream.isTTY === true && process.env.TERM !== "dumb";
  }

  /** Shows the progress in bytes. @param total null while unknown */
  show(doing: string, done: number, total: number | null): void {
    if (!this.#live) return;
    const now = performance.now();
    if (doing !== this.#doing) [this.#doing, this.#startedAt, this.#startedWith] = [doing, now, done];
    if (now - this.#drawnAt < redrawMilliseconds) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    const rate = (1000 * (done - this.#startedWith)) / Math.max(1, now - this.#startedAt);
    const text = progressText({ doing, done, total, rate });
    this.#stream.write(`\r${text.slice(0, Math.max(20, this.#stream.columns || 80) - 1)}\x1b[K`);
  }

  [Symbol.dispose](): void {
    if (this.#isDrawn) this.#stream.write("\r\x1b[K");
    this.#isDrawn = false;
  }
}

/** Formats progress, e.g. `whisper-small: download [#####     ]  21 %  98 of 466 MiB, 5.4 MiB/s, 68 s left`. */
export function progressText(at: {
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
