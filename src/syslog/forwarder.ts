import { retryWait } from "../addresses/index.ts";
import type { Store } from "../database/index.ts";
import { type ChangeGate, mayAcknowledge } from "../disk/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { DeliveryError, type DeliveryTimes, deliver } from "./deliver.ts";
import { type AuditEntry, type SyslogSender, syslogFrame } from "./message.ts";
import { entriesAfter, type PendingEntries, pendingEntries, readPosition, storePosition } from "./position.ts";
import type { SyslogTarget } from "./target.ts";

/** The parts of a server that the forwarder uses. */
export interface ForwarderServices {
  readonly store: Store;
  /** After a takeover, the receiver has no entry that the next server lacks, and whose id another entry gets. */
  readonly changes: ChangeGate;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly isEnabled: () => boolean;
  /** Returns the receiver. @throws {Error} for unusable settings or files */
  readonly target: () => SyslogTarget;
  readonly sender: SyslogSender;
  readonly onAttempt: (outcome: "confirmed" | "failed") => void;
  /** Replaces the time limits of a delivery, for tests. */
  readonly times?: DeliveryTimes;
}

/** Entries that one connection sends: at most 8 MB of messages, and in fact less than 1 MB. */
const MAX_ENTRIES = 1000;
/** Interval after which new entries are looked for; commands add some, too. */
const LOOK_MILLISECONDS = 1_000;
/** Time after a confirmed delivery before the next connection, unless more entries wait than one connection sends. */
const PAUSE_MILLISECONDS = 5_000;
/** Waits after the first failures; the last one is that after all others. */
const WAITS = [1_000, 2_000, 5_000, 15_000, 30_000, 60_000] as const;
/**
 * Number of complete, unconfirmed deliveries of the same entries after which they count as received. Otherwise a receiver
 * that never closes connections properly would get them again and again.
 */
const MAX_UNCONFIRMED = 3;

/**
 * Forwards the audit log to a receiver of syslog messages, in order and at least once. The position in the database moves
 * when the receiver has confirmed entries, so an outage, a restart or a crash loses none of them.
 */
export class AuditForwarder {
  readonly #services: ForwarderServices;
  readonly #stopping = new AbortController();
  #delivery: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** Time before which nothing is sent. */
  #notBefore = 0;
  /** Consecutive failures. */
  #failures = 0;
  /** The entries that were sent completely and not confirmed: from a position to a last id, and how often. */
  #unconfirmed: { readonly from: number; readonly through: number; readonly times: number } | null = null;

  constructor(services: ForwarderServices) {
    this.#services = services;
  }

  /** Starts to forward entries, now and every second. */
  start(): void {
    this.look();
    this.#timer = setInterval(() => this.look(), LOOK_MILLISECONDS);
  }

  /** Begins to send entries, if there are any and none are being sent. */
  look(): void {
    const { store, now, isEnabled, changes } = this.#services;
    if (this.#delivery !== null || this.#stopping.signal.aborted || !isEnabled() || now() < this.#notBefore) return;
    if (changes.refusal() !== null) return;
    try {
      const from = readPosition(store);
      const entries = this.#entriesAfter(from);
      if (entries.length === 0) return;
      this.#delivery = this.#deliver(from, entries).finally(() => {
        this.#delivery = null;
        this.look();
      });
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Returns what the receiver has not confirmed; null when the audit log is not forwarded. */
  status(): PendingEntries | null {
    return this.#services.isEnabled() ? pendingEntries(this.#services.store) : null;
  }

  /** Resolves when no delivery is in progress. */
  async idle(): Promise<void> {
    while (this.#delivery !== null) await this.#delivery;
  }

  /** Stops. What is being sent is sent again by the next server. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort(new Error("the server stops"));
    await this.idle();
  }

  /** Entries that were sent and not confirmed are sent again alone, so that their number is limited. */
  #entriesAfter(from: number): AuditEntry[] {
    const entries = entriesAfter(this.#services.store, from, MAX_ENTRIES);
    const unconfirmed = this.#unconfirmed;
    return unconfirmed?.from === from ? entries.filter(({ id }) => id <= unconfirmed.through) : entries;
  }

  async #deliver(from: number, entries: readonly AuditEntry[]): Promise<void> {
    const { store, changes, sender, times, target } = this.#services;
    const through = entries.at(-1)?.id ?? from;
    try {
      if (!(await mayAcknowledge(changes, this.#stopping.signal)))
        throw new Error("the standby has not confirmed them");
      const frames = entries.map((entry) => syslogFrame(entry, sender));
      try {
        await deliver(target(), frames, this.#stopping.signal, times);
      } catch (error) {
        if (!(error instanceof DeliveryError) || !error.wasSent) throw error;
        const before = this.#unconfirmed?.from === from ? this.#unconfirmed.times : 0;
        this.#unconfirmed = { from, through, times: before + 1 };
        if (this.#unconfirmed.times < MAX_UNCONFIRMED) throw error;
      }
      storePosition(store, through);
      this.#confirmed(entries.length);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#failed(error);
    }
  }

  #confirmed(entries: number): void {
    const { log, now, onAttempt } = this.#services;
    onAttempt("confirmed");
    if (this.#failures > 0) log.info({ event: "audit.forwarding_resumed", failures: this.#failures, entries });
    this.#failures = 0;
    this.#unconfirmed = null;
    this.#notBefore = entries < MAX_ENTRIES ? now() + PAUSE_MILLISECONDS : 0;
  }

  #failed(error: unknown): void {
    const { log, onAttempt, now, random } = this.#services;
    onAttempt("failed");
    // One line for an outage: the metrics count the attempts.
    if (this.#failures === 0) log.warn({ event: "audit.forwarding_failed", trouble: messageOf(error) });
    this.#failures += 1;
    this.#notBefore = now() + Math.round(retryWait(WAITS, this.#failures, random()));
  }
}
