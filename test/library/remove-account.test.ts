import { expect, setDefaultTimeout, test } from "bun:test";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount, readAudit } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { createKey } from "../../src/keys/index.ts";
import { removeAccount } from "../../src/library/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { addReplacement } from "../../src/replacements/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { addWebhook, recordingEvents } from "../../src/webhooks/index.ts";

const by = { actor: "operator", now: 1000 };

setDefaultTimeout(60_000);

test("an account larger than one batch is deleted completely, its keys first, and nothing of another account", async () => {
  const store = openDatabase(":memory:");
  const recordings = new Recordings(store, () => by.now);
  const usage = new Usage(store);
  const segmentsOf = (count: number) =>
    Array.from({ length: count }, (_, index): Segment => {
      return { index, startSeconds: index, endSeconds: index + 1, speaker: 0, text: "Hello.", words: [] };
    });
  const [first, second] = ["first", "second"].map((name) => {
    const account = createAccount(store, name, by);
    createKey(store, account, { name: "key" }, by);
    addWebhook(store, account, { url: "https://app.example.org/", events: recordingEvents }, by);
    addReplacement(store, account, { source: "jon", target: "John", matchesCase: false }, by);
    for (let index = 0; index < 101; index++) {
      const { id } = recordings.create(newRecording(Bun.randomUUIDv7(), account.id));
      usage.admit(account.id, id, 1e9, by.now);
      usage.spendCreate(store, account.id, by.now);
      if (index % 20 !== 0) continue;
      recordings.claim(id);
      recordings.complete(id, segmentsOf(index * 3));
    }
    return account;
  });
  if (first === undefined || second === undefined) throw new Error("an account was not made");
  const tableNames = [
    ...["api_keys", "recordings", "segments", "audio_usage", "creates", "accounts"],
    ...["webhooks", "webhook_deliveries", "replacements"],
  ];
  const rows = () =>
    Object.fromEntries(
      tableNames.map((table) => {
        const count = store.$client.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows;
        return [table, count];
      }),
    );
  const before = rows();
  expect(before).toMatchObject({ recordings: 202, segments: 1800, audio_usage: 202, webhook_deliveries: 12 });

  using parent = temporaryDirectory();
  const services = { store, recordings, dataDirectory: new DataDirectory(parent.path), now: () => by.now };
  const deletion = removeAccount(services, { kind: "operator", actor: by.actor }, first);
  expect(rows().api_keys).toBe(1);
  expect(await deletion).toBe(101);
  expect(rows()).toEqual(Object.fromEntries(Object.entries(before).map(([table, count]) => [table, (count ?? 0) / 2])));
  expect(recordings.list({ accountId: first.id }, 10)).toEqual([]);
  expect(recordings.list({ accountId: second.id }, 1000)).toHaveLength(101);
  expect(readAudit(store, 1)[0]).toMatchObject({ action: "accounts.delete", subject: first.id });
});
