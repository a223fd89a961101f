import type { AllowList } from "../addresses/index.ts";
import type { Store } from "../database/index.ts";
import { type ChangeGate, mayAcknowledge } from "../disk/index.ts";
import type { Logger } from "../telemetry/index.ts";
import {
  activeWebhooks,
  beginAttempts,
  type Delivery,
  dueDeliveries,
  makeAllDue,
  storeDelivered,
  storeFailed,
} from "./deliveries.ts";
import { type Attempt, type PostOptions, post } from "./post.ts";
import { signedHeaders } from "./signature.ts";
import { FAILURES_OF_OUTAGE, GIVE_UP_MILLISECONDS, probeWait, waitAfter } from "./waits.ts";
import { findSigned, type PauseReason, setPaused } from "./webhooks.ts";

/** The parts of a server that the dispatcher uses. */
export interface DispatcherServices {
  readonly store: Store;
  /** No event tells of a change that the next server may lack. */
  readonly changes: ChangeGate;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly isEnabled: () => boolean;
  readonly allow: () => AllowList;
  readonly userAgent: string;
  readonly onAttempt: (outcome: "delivered" | "failed") => void;
  readonly network?: Pick<PostOptions, "authorities" | "resolve" | "timeoutMilliseconds">;
}

/** Messages that are sent at the same time: in all, and to one receiver. */
const MAX_AT_ONCE = 32;
const MAX_FOR_ONE = 4;
/** Duration of an answer from which a receiver gets one message at a time, so that it occupies few of all places. */
const SLOW_MILLISECONDS = 2_000;
/** Interval after which due deliveries are looked for; commands and the clock make some. */
const LOOK_MILLISECONDS = 1_000;

/** State of a receiver since the server was started. */
class Receiver {
  /** Positions of the deliveries that are being sent. */
  readonly sending = new Set<number>();
  /** Consecutive failed attempts. */
  failures = 0;
  isSlow = false;
  /** Time before which nothing is sent. */
  notBefore = 0;

  /** Number of further messages that it may get now. */
  places(now: number): number {
    if (now < this.notBefore) return 0;
    const most = this.isSlow || this.failures >= FAILURES_OF_OUTAGE ? 1 : MAX_FOR_ONE;
    return Math.max(0, most - this.sending.size);
  }
}

/**
 * Sends events to webhooks. Each is sent until its receiver accepts it, at least once: after a crash, the next server
 * sends again what was being sent. The events of one recording arrive in their order at each receiver; all others are
 * sent at the same time. A receiver that is slow or fails gets one message at a time, and delays no other.
 */
export class WebhookDispatcher {
  readonly #services: DispatcherServices;
  readonly #receivers = new Map<string, Receiver>();
  readonly #stopping = new AbortController();
  readonly #attempts = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  /** The webhook that was served last, after which the next turn begins. */
  #last = "";

  constructor(services: DispatcherServices) {
    this.#services = services;
  }

  /** Starts to send what is due, now and every second. */
  start(): void {
    this.look();
    this.#timer = setInterval(() => this.look(), LOOK_MILLISECONDS);
  }

  /** Begins to send what is due. */
  look(): void {
    this.#guarded(() => {
      const ids = activeWebhooks(this.#services.store)
        .all()
        .map(({ id }) => id);
      const known = new Set(ids);
      for (const [id, { sending }] of this.#receivers) {
        if (!known.has(id) && sending.size === 0) this.#receivers.delete(id);
      }
      // The turns rotate, so that every receiver gets a place when all places are occupied.
      const turn = [...ids.filter((id) => id > this.#last), ...ids.filter((id) => id <= this.#last)];
      for (const id of turn) {
        if (this.#attempts.size >= MAX_AT_ONCE) return;
        this.#serve(id);
      }
    });
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    while (this.#attempts.size > 0) await Promise.all(this.#attempts);
  }

  /** Stops. Messages that are being sent are aborted, and are sent again by the next server. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort(new Error("the server stops"));
    await this.idle();
  }

  /** Runs a step, unless nothing may be sent. A failure, for example on a full disk, is logged. */
  #guarded(step: () => void): void {
    const { log, isEnabled, changes } = this.#services;
    if (this.#stopping.signal.aborted || !isEnabled() || changes.refusal() !== null) return;
    try {
      step();
    } catch (error) {
      log.error({ event: "webhook.dispatch_failed", err: error });
    }
  }

  #serve(webhookId: string): void {
    const { store, now: clock } = this.#services;
    const now = clock();
    const receiver = this.#receivers.get(webhookId) ?? new Receiver();
    const places = Math.min(receiver.places(now), MAX_AT_ONCE - this.#attempts.size);
    if (places === 0) return;
    const due = dueDeliveries(store, webhookId, now, places + receiver.sending.size);
    const chosen = due.filter((position) => !receiver.sending.has(position)).slice(0, places);
    if (chosen.length === 0) return;
    this.#receivers.set(webhookId, receiver);
    this.#last = webhookId;
    for (const delivery of beginAttempts(store, chosen, now)) {
      receiver.sending.add(delivery.position);
      const attempt = this.#attempt(delivery, receiver).finally(() => {
        const isFull = this.#attempts.size >= MAX_AT_ONCE;
        receiver.sending.delete(delivery.position);
        this.#attempts.delete(attempt);
        if (isFull) this.look();
        else this.#guarded(() => this.#serve(webhookId));
      });
      this.#attempts.add(attempt);
    }
  }

  async #attempt(delivery: Delivery, receiver: Receiver): Promise<void> {
    const { store, changes, log, now, allow, userAgent, network, onAttempt } = this.#services;
    const { webhookId, id, body } = delivery;
    try {
      if (!(await mayAcknowledge(changes, this.#stopping.signal))) {
        receiver.notBefore = now() + LOOK_MILLISECONDS;
        return;
      }
      const startedAt = now();
      const signed = findSigned(store, webhookId, startedAt);
      if (signed === null) return;
      const headers = signedHeaders(id, body, signed.secrets, startedAt);
      const options = { ...network, allow: allow(), userAgent, now };
      const attempt = await post(new URL(signed.webhook.url), body, headers, options, this.#stopping.signal);
      const { status, fault, milliseconds } = attempt;
      onAttempt(fault === null ? "delivered" : "failed");
      const facts = { webhookId, deliveryId: id, recordingId: delivery.recordingId, status, milliseconds };
      log.debug({ event: fault === null ? "webhook.delivered" : "webhook.failed", ...facts, fault });
      receiver.isSlow = milliseconds >= SLOW_MILLISECONDS;
      if (fault === null) this.#delivered(delivery, attempt, receiver);
      else this.#failed(delivery, attempt, receiver);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      // The result could not be stored, for example on a full disk: the message is sent again.
      receiver.notBefore = now() + waitAfter(1, null, 1);
      log.error({ event: "webhook.dispatch_failed", webhookId, deliveryId: id, err: error });
    }
  }

  #delivered(delivery: Delivery, attempt: Attempt, receiver: Receiver): void {
    const { store, now } = this.#services;
    storeDelivered(store, delivery, attempt, now());
    const wasOut = receiver.failures >= FAILURES_OF_OUTAGE;
    receiver.failures = 0;
    receiver.notBefore = 0;
    if (wasOut) makeAllDue(store, delivery.webhookId, now());
  }

  #failed(delivery: Delivery, attempt: Attempt, receiver: Receiver): void {
    const { store, now: clock, random } = this.#services;
    const now = clock();
    receiver.failures += 1;
    const { retryAfter, status } = attempt;
    receiver.notBefore = now + probeWait(receiver.failures, retryAfter, random());
    storeFailed(store, delivery, attempt, now + waitAfter(delivery.attempts, retryAfter, random()));
    const since = delivery.firstAttemptAt ?? now;
    if (status === 410) this.#pause(delivery.webhookId, "gone");
    else if (now - since >= GIVE_UP_MILLISECONDS) this.#pause(delivery.webhookId, "failing");
  }

  #pause(webhookId: string, reason: PauseReason): void {
    const { store, log, now } = this.#services;
    if (setPaused(store, webhookId, reason, now())) log.warn({ event: "webhook.paused", webhookId, reason });
    this.#receivers.delete(webhookId);
  }
}
