import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import type { Broker } from "./broker.ts";
import { answerMilliseconds } from "./connection.ts";
import { PRESENCE_MILLISECONDS } from "./messages.ts";
import { ACK_WAIT_MILLISECONDS } from "./work-stream.ts";

/** A publication that the broker has confirmed. */
export interface Published {
  /** Pool in whose stream it is; empty: that of the workers with certificates of their own. */
  readonly pool: string;
  /** SHA-256 of the speech model that the operation needs; null if it needs none. */
  readonly model: string | null;
  /** Position in the stream. The broker delivers the stream's operations of a model in this order. */
  readonly sequence: number;
  readonly bytes: number;
  /** Time of its publication, in milliseconds since 1970. */
  readonly at: number;
}

/** A publication that a worker fetched and did not report in time. */
export interface Unreported extends Published {
  readonly seconds: number;
  /** Machine that listed it as its own; null if none did. */
  readonly machine: string | null;
}

/** Time for the first report of a fetched operation; only tests have other limits. */
export interface ReportLimits {
  readonly milliseconds: (bytes: number) => number;
  readonly checkMilliseconds: number;
}

/**
 * The broker delivers an operation without a beat once more, and a large one arrives late on a slow network. A part of
 * 30 s has 40 s, a block of two minutes 85 s. An honest worker reports within milliseconds.
 */
const LIMITS: ReportLimits = {
  milliseconds: (bytes) => ACK_WAIT_MILLISECONDS + answerMilliseconds(bytes),
  checkMilliseconds: PRESENCE_MILLISECONDS,
};

interface FirstReportsOptions {
  readonly broker: Broker;
  readonly build: string;
  readonly now: () => number;
  readonly log: Logger;
  readonly reportLimits?: ReportLimits;
  /** Called once for a publication whose report is overdue. */
  readonly onOverdue: (id: string, unreported: Unreported) => void;
}

interface Expected extends Published {
  machine: string | null;
  /** Time since the broker was found to have delivered it; null before. */
  seconds: number | null;
}

/**
 * The operations about which no worker has reported anything yet. Workers report each operation when they fetch it. One
 * that the broker has delivered, and that nobody reports, is held by a worker that hangs or is hostile. The broker does
 * not say which worker fetched it.
 */
export class FirstReports implements Disposable {
  readonly #options: FirstReportsOptions;
  readonly #limits: ReportLimits;
  readonly #expected = new Map<string, Expected>();
  readonly #timer: NodeJS.Timeout;
  #checkedAt = performance.now();
  #isChecking = false;

  constructor(options: FirstReportsOptions) {
    this.#options = options;
    this.#limits = options.reportLimits ?? LIMITS;
    this.#timer = setInterval(() => {
      this.#measure();
      void this.#findDelivered();
    }, this.#limits.checkMilliseconds);
  }

  /** Expects the first report about a publication. */
  expect(id: string, published: Omit<Published, "at">): void {
    this.#expected.set(id, { ...published, at: this.#options.now(), machine: null, seconds: null });
  }

  /** Notes the operations that a machine lists as its own. */
  noteHeld(machine: string, ids: readonly string[]): void {
    for (const id of ids) {
      const expected = this.#expected.get(id);
      if (expected !== undefined) expected.machine = machine;
    }
  }

  /** Notes a report about an operation, or that nobody waits for the operation any more. */
  release(id: string): void {
    this.#expected.delete(id);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#expected.clear();
  }

  #measure(): void {
    const { checkMilliseconds, milliseconds } = this.#limits;
    const now = performance.now();
    // A machine that sleeps, or a coordinator that was stopped, makes nothing overdue.
    const passed = Math.min(now - this.#checkedAt, 2 * checkMilliseconds) / 1000;
    this.#checkedAt = now;
    for (const [id, expected] of this.#expected) {
      if (expected.seconds === null) continue;
      expected.seconds += passed;
      if (1000 * expected.seconds <= milliseconds(expected.bytes)) continue;
      this.release(id);
      this.#options.onOverdue(id, { ...expected, seconds: expected.seconds });
    }
  }

  /** Asks the broker which of the operations it has delivered. */
  async #findDelivered(): Promise<void> {
    const { broker, build, log } = this.#options;
    if (this.#isChecking || !broker.connected) return;
    this.#isChecking = true;
    try {
      const open = [...this.#expected.values()].filter(({ seconds }) => seconds === null);
      const groups = Map.groupBy(open, ({ pool, model }) => `${pool} ${model}`);
      for (const entries of groups.values()) {
        const { pool = "", model = null } = entries[0] ?? {};
        const last = await broker.streamOf(pool).lastDelivered(build, model ?? "none");
        for (const expected of entries) if (expected.sequence <= last) expected.seconds = 0;
      }
    } catch (error) {
      log.debug({ event: "fleet.consumer_unreadable", trouble: messageOf(error) });
    } finally {
      this.#isChecking = false;
    }
  }
}
