import pino from "pino";
import { StandbyGate } from "../../harness/standby-gate.ts";
import { parseAllowList } from "../../src/addresses/index.ts";
import { tables } from "../../src/database/index.ts";
import type { DispatcherServices } from "../../src/webhooks/dispatcher.ts";
import { addWebhook, recordingEvents, type Webhook, WebhookDispatcher } from "../../src/webhooks/index.ts";
import { Shelf } from "../support/shelf.ts";

/** Webhooks of one account with a dispatcher, whose clock the test sets. */
export class HookBench implements AsyncDisposable {
  now = Date.now();
  readonly shelf = new Shelf(() => this.now);
  readonly store = this.shelf.store;
  readonly lines: string[] = [];
  readonly standby = new StandbyGate();
  readonly dispatcher: WebhookDispatcher;

  constructor(changes: Partial<DispatcherServices> = {}) {
    this.dispatcher = new WebhookDispatcher({
      store: this.store,
      changes: this.standby,
      log: pino({ base: null, level: "debug" }, { write: (line: string) => void this.lines.push(line) }),
      now: () => this.now,
      random: () => 0.5,
      isEnabled: () => true,
      allow: () => parseAllowList(["127.0.0.0/8"]),
      userAgent: "transcribe/test",
      onAttempt: () => {},
      ...changes,
    });
  }

  /** Adds a webhook for an address. */
  add(url: string, events: Webhook["events"] = recordingEvents) {
    const account = { id: this.shelf.accountId, name: "acme" };
    return addWebhook(this.store, account, { url, events }, { actor: "operator", now: this.now });
  }

  /** Completes a new recording. @returns its id */
  complete(): string {
    return this.shelf.completed([]).recording.id;
  }

  /** Sends what is due until nothing is. */
  async send(): Promise<void> {
    this.dispatcher.look();
    await this.dispatcher.idle();
  }

  /** Lets time pass, and sends what is due then. */
  async pass(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    await this.send();
  }

  deliveries() {
    return this.store.select().from(tables.webhookDeliveries).orderBy(tables.webhookDeliveries.position).all();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispatcher.stop();
  }
}
