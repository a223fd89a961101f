const REDRAW_MILLISECONDS = 500;
const BAR_COLUMNS = 24;

/** One line at the bottom of a terminal that reports the current activity, removed at the end. Not for pipes. */
export class StatusLine implements Disposable {
  readonly #isLive = process.stderr.isTTY === true && process.env.TERM !== "dumb";
  #isDrawn = false;
  #transfer = { doing: "", startedAt: 0, startedWith: 0, drawnAt: Number.NEGATIVE_INFINITY };

  show(text: string): void {
    if (!this.#isLive) return;
    this.#isDrawn = true;
    process.stderr.write(`\r${text.slice(0, Math.max(20, process.stderr.columns || 80) - 1)}\x1b[K`);
  }

  /** Shows the progress of a transfer in bytes. @param total null while unknown */
  showTransfer(doing: string, done: number, total: number | null): void {
    const now = performance.now();
    const drawnAt = this.#transfer.drawnAt;
    if (doing !== this.#transfer.doing) this.#transfer = { doing, startedAt: now, startedWith: done, drawnAt };
    if (now - drawnAt < REDRAW_MILLISECONDS) return;
    this.#transfer.drawnAt = now;
    const { startedAt, startedWith } = this.#transfer;
    const rate = (1000 * (done - startedWith)) / Math.max(1, now - startedAt);
    this.show(transferText({ doing, done, total, rate }));
  }

  [Symbol.dispose](): void {
    if (this.#isDrawn) process.stderr.write("\r\x1b[K");
    this.#isDrawn = false;
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
  const bar = "#".repeat(Math.floor(share * BAR_COLUMNS)).padEnd(BAR_COLUMNS);
  const left = rate > 0 ? `, ${duration((total - done) / rate)} left` : "";
  return `${doing} [${bar}] ${String(Math.floor(100 * share)).padStart(3)} %  ${mebibytes(done)} of ${mebibytes(total)} MiB${speed}${left}`;
}

function duration(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
