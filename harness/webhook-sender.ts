// Completes recordings and sends their events to webhooks, until everything is delivered. `webhook-kills.ts` kills it:
// DIRECTORY RECORDINGS ORIGIN SPEED. Its clock began at ORIGIN and runs SPEED times as fast as the machine's.
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { parseAllowList } from "../src/addresses/index.ts";
import { openDatabase, tables } from "../src/database/index.ts";
import { Recordings } from "../src/recordings/index.ts";
import { DataDirectory } from "../src/storage/index.ts";
import { countPending, WebhookDispatcher } from "../src/webhooks/index.ts";
import { newRecording } from "./new-recording.ts";
import { fastClock } from "./webhook-kills.ts";

const [path = "", number = "", origin = "", speed = ""] = process.argv.slice(2);
const store = openDatabase(new DataDirectory(path).databasePath);
const now = fastClock(Number(origin), Number(speed));
const recordings = new Recordings(store, now);
const dispatcher = new WebhookDispatcher({
  ...{ store, now, log: pino({ level: "silent" }), random: Math.random, userAgent: "transcribe/test" },
  isEnabled: () => true,
  allow: () => parseAllowList(["127.0.0.0/8"]),
  onAttempt: () => {},
});

/** Every fifth recording is deleted, too, so that it has two events. */
function finish(id: string, place: number): void {
  recordings.claim(id);
  recordings.complete(id, []);
  if (place % 5 === 0) recordings.delete(id);
}

const account = store.select({ id: tables.accounts.id }).from(tables.accounts).get()?.id ?? "";
let made = store.$client.query<{ made: number }, []>("SELECT count(*) AS made FROM recordings").get()?.made ?? 0;
for (const { id } of recordings.list({ statuses: ["queued", "processing"] }, 100)) finish(id, made);
while (made < Number(number) || countPending(store) > 0) {
  if (made < Number(number)) {
    made += 1;
    finish(recordings.create(newRecording(Bun.randomUUIDv7(), account)).id, made);
    process.stdout.write(`${made}\n`);
  }
  dispatcher.look();
  await sleep(1);
}
await dispatcher.stop();
