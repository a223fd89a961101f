import { setTimeout as sleep } from "node:timers/promises";
import { type ChangeGate, mayAcknowledge } from "../../disk/index.ts";
import type { OpenSession, ReportedEnd } from "../session/live-session.ts";

/** Interval at which the end of a session is confirmed again while the standby is away. */
const RETRY_MILLISECONDS = 500;
const UNCONFIRMED = "The standby has not confirmed the end of the session yet.";

/** Holds back the ends of sessions until the standby has them, and tells clients when it is away. */
export class EndConfirmation {
  readonly #changes: ChangeGate;
  readonly #stopping = new AbortController();
  /** Sessions whose clients know that the standby is away. */
  readonly #informed = new WeakSet<OpenSession>();

  constructor(changes: ChangeGate) {
    this.#changes = changes;
  }

  /** Tells the client of an open session once that the standby is away. */
  check(session: OpenSession): void {
    const reason = this.#changes.refusal();
    if (reason !== null && !this.#informed.has(session)) session.reportUnconfirmed(reason);
    if (reason === null) this.#informed.delete(session);
    else this.#informed.add(session);
  }

  /** Forgets what the client of a session knows, because another one has taken its place. */
  forget(session: OpenSession): void {
    this.#informed.delete(session);
  }

  /**
   * Waits until the standby has the end of a session, for as long as the server runs.
   * @returns the end that its client may learn of
   */
  async confirmed(session: OpenSession, end: ReportedEnd): Promise<ReportedEnd> {
    const { signal } = this.#stopping;
    try {
      if (end.reason === "stopping" || (await mayAcknowledge(this.#changes, signal))) return end;
      session.reportUnconfirmed(this.#changes.refusal() ?? UNCONFIRMED);
      do await sleep(RETRY_MILLISECONDS, undefined, { signal });
      while (!(await mayAcknowledge(this.#changes, signal)));
      return end;
    } catch (error) {
      // Nobody learns of a recording that the next server may lack.
      if (signal.aborted) return { reason: "stopping", recordingId: null };
      throw error;
    }
  }

  /** Ends all waits, because the server stops. */
  stop(): void {
    this.#stopping.abort(new Error("the server stops"));
  }
}
