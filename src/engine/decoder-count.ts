import type { DecoderWork } from "../operations/index.ts";

/** Work of a worker's decoder in slots, by all of its processes. */
export interface DecoderStatus extends DecoderWork {
  /** Rows of texts in each step, between the latest two reports with a step; null: no step was reported. */
  readonly rowsPerStep: number | null;
}

/** Adds up the reports of a worker's processes, each of which counts from 0. */
export class DecoderCount {
  #reported: DecoderWork = { steps: 0, rows: 0 };
  #status: DecoderStatus = { steps: 0, rows: 0, rowsPerStep: null };

  get status(): DecoderStatus {
    return this.#status;
  }

  /** Begins a process, whose reports count from 0. */
  restart(): void {
    this.#reported = { steps: 0, rows: 0 };
  }

  /** Counts a report of the current process. */
  add(work: DecoderWork): void {
    const steps = work.steps - this.#reported.steps;
    const rows = work.rows - this.#reported.rows;
    this.#reported = work;
    if (steps <= 0) return;
    const before = this.#status;
    this.#status = { steps: before.steps + steps, rows: before.rows + rows, rowsPerStep: rows / steps };
  }
}
