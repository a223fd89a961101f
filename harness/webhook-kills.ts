import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { createAccount } from "../src/accounts/index.ts";
import { parseAllowList } from "../src/addresses/index.ts";
import { openDatabase, tables } from "../src/database/index.ts";
import { Recordings } from "../src/recordings/index.ts";
import { DataDirectory } from "../src/storage/index.ts";
import { addWebhook, countPending, recordingEvents, WebhookDispatcher } from "../src/webhooks/index.ts";
import { newRecording } from "./new-recording.ts";
import { StandbyGate } from "./standby-gate.ts";

/** Returns a clock that began at `origin` and runs `speed` times as fast as the machine's. */
function fastClock(origin: number, speed: number): () => number {
  return () => Math.round(origin + (Date.now() - origin) * speed);
}

interface KillPlan {
  /** Path of a bundle of this file. Default: this file, which runs as the sender if it is the main module. */
  readonly script?: string;
  /** An empty directory. */
  readonly directory: string;
  readonly recordings: number;
  /** Number of times that the sender is killed: half of them while the receiver is down. */
  readonly kills: number;
  /** Time for which the receiver is down, by the sender's clock. */
  readonly outageMilliseconds: number;
  /** Factor by which that clock runs faster than the machine's. */
  readonly speed: number;
}

/** Messages that a receiver got from a sender that was killed repeatedly. */
export interface KillOutcome {
  readonly kills: number;
  /** Events that are stored. */
  readonly events: number;
  /** Attempts while the receiver was down, and messages that it accepted twice or more. */
  readonly refused: number;
  readonly repeated: number;
  /** Events that the receiver never got. */
  readonly lost: number;
  /** Events that came with several ids, or ids with several bodies. */
  readonly unstable: number;
  /** Recordings whose events came in another order. */
  readonly disordered: number;
}

/** Kills a sender of events with SIGKILL again and again, and compares what a receiver got with what was stored. */
export async function killSender(plan: KillPlan): Promise<KillOutcome> {
  const dataDirectory = new DataDirectory(plan.directory);
  const store = openDatabase(dataDirectory.databasePath);
  await using receiver = await AccountingReceiver.start();
  const by = { actor: "operator", now: Date.now() };
  const account = createAccount(store, "acme", by);
  addWebhook(store, account, { url: receiver.url, events: recordingEvents }, by);
  store.$client.close();
  const origin = Date.now();
  const now = fastClock(origin, plan.speed);
  receiver.isDown = () => now() < origin + plan.outageMilliseconds;
  const half = Math.ceil(plan.kills / 2);
  let kills = 0;
  for (;;) {
    const { recordings, script = import.meta.path, directory, speed } = plan;
    const command = [process.execPath, script, directory, String(recordings), String(origin), String(speed)];
    const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
    // The first half is killed at numbers of recordings, the others at numbers of accepted messages.
    const isMadeAt = kills < half ? Math.ceil(((kills + 1) * recordings) / (half + 1)) : Number.POSITIVE_INFINITY;
    const later = kills - half + 1;
    const isAcceptedAt =
      kills >= half && kills < plan.kills
        ? Math.ceil((later * recordings) / (plan.kills - half + 1))
        : Number.POSITIVE_INFINITY;
    receiver.onAccepted = (accepted) => accepted >= isAcceptedAt && child.kill("SIGKILL");
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const made = Number(text.trim().split("\n").at(-1));
      if (made >= isMadeAt) child.kill("SIGKILL");
    }
    await child.exited;
    if (child.signalCode !== "SIGKILL") {
      if (child.exitCode !== 0) throw new Error(`the sender exited with ${child.exitCode}`);
      break;
    }
    kills += 1;
  }
  return { kills, ...receiver.compare(storedEvents(dataDirectory.databasePath)) };
}

interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly recordingId: string;
}

/** Returns the events that follow from the recordings, with the ids of their deliveries. */
function storedEvents(path: string): StoredEvent[] {
  const store = openDatabase(path);
  const events = store.$client
    .query<StoredEvent, []>(
      `SELECT coalesce(d.id, '') AS id, e.type, r.id AS recordingId FROM recordings AS r
        JOIN (SELECT 'recording.completed' AS type UNION ALL SELECT 'recording.deleted') AS e
          ON e.type = 'recording.completed' OR r.deleted_at IS NOT NULL
        LEFT JOIN webhook_deliveries AS d ON d.recording_id = r.id AND d.type = e.type`,
    )
    .all();
  store.$client.close();
  return events;
}

/** A receiver that counts what it accepts. */
class AccountingReceiver implements AsyncDisposable {
  isDown: () => boolean = () => false;
  onAccepted: (accepted: number) => void = () => {};
  readonly #accepted: { readonly id: string; readonly body: string }[] = [];
  #refused = 0;
  readonly #server: Server = createServer((request, response) => void this.#receive(request, response));

  static async start(): Promise<AccountingReceiver> {
    const receiver = new AccountingReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk);
      if (this.isDown()) {
        this.#refused += 1;
        response.writeHead(503).end();
        return;
      }
      this.#accepted.push({ id: String(request.headers["webhook-id"]), body: Buffer.concat(chunks).toString() });
      response.writeHead(204).end();
      this.onAccepted(this.#accepted.length);
    } catch {
      // The sender was killed in the middle of a message.
      response.destroy();
    }
  }

  compare(stored: readonly StoredEvent[]): Omit<KillOutcome, "kills"> {
    const bodies = Map.groupBy(this.#accepted, ({ id }) => id);
    const events = this.#accepted.map(({ id, body }) => ({ id, ...(JSON.parse(body) as Body) }));
    const nameOf = (type: string, recordingId: string) => `${type} ${recordingId}`;
    const ids = Map.groupBy(events, ({ type, data }) => nameOf(type, data.id));
    const isUnstable = [...bodies.values()].filter((same) => new Set(same.map(({ body }) => body)).size > 1);
    const hasSeveral = [...ids.values()].filter((same) => new Set(same.map(({ id }) => id)).size > 1);
    const first = (type: string, recordingId: string) =>
      events.findIndex((event) => event.type === type && event.data.id === recordingId);
    const deleted = stored.filter(({ type }) => type === "recording.deleted");
    return {
      events: stored.length,
      refused: this.#refused,
      repeated: this.#accepted.length - bodies.size,
      lost: stored.filter(
        ({ id, type, recordingId }) => id === "" || ids.get(nameOf(type, recordingId))?.[0]?.id !== id,
      ).length,
      unstable: isUnstable.length + hasSeveral.length,
      disordered: deleted.filter(
        ({ recordingId }) => first("recording.completed", recordingId) > first("recording.deleted", recordingId),
      ).length,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

interface Body {
  readonly type: string;
  readonly data: { readonly id: string };
}

/**
 * Completes recordings and sends their events to webhooks, until everything is delivered. Its clock began at `origin` and
 * runs `speed` times as fast as the machine's.
 */
async function sendEvents(directory: string, number: number, origin: number, speed: number): Promise<void> {
  const store = openDatabase(new DataDirectory(directory).databasePath);
  const now = fastClock(origin, speed);
  const recordings = new Recordings(store, now);
  const dispatcher = new WebhookDispatcher({
    ...{ store, now, log: pino({ level: "silent" }), random: Math.random, userAgent: "transcribe/test" },
    changes: new StandbyGate(),
    isEnabled: () => true,
    allow: () => parseAllowList(["127.0.0.0/8"]),
    onAttempt: () => {},
  });
  /** Every fifth recording is deleted, too, so that it has two events. */
  const finish = (id: string, place: number) => {
    recordings.claim(id);
    recordings.complete(id, []);
    if (place % 5 === 0) recordings.delete(id);
  };

  const account = store.select({ id: tables.accounts.id }).from(tables.accounts).get()?.id ?? "";
  let made = store.$client.query<{ made: number }, []>("SELECT count(*) AS made FROM recordings").get()?.made ?? 0;
  for (const { id } of recordings.list({ statuses: ["queued", "processing"] }, 100)) finish(id, made);
  while (made < number || countPending(store) > 0) {
    if (made < number) {
      made += 1;
      finish(recordings.create(newRecording(Bun.randomUUIDv7(), account)).id, made);
      process.stdout.write(`${made}\n`);
    }
    dispatcher.look();
    await sleep(1);
  }
  await dispatcher.stop();
}

if (import.meta.main) {
  const [directory = "", number, origin, speed] = process.argv.slice(2);
  await sendEvents(directory, Number(number), Number(origin), Number(speed));
}
