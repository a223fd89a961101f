import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { newRecording } from "../../harness/new-recording.ts";
import { openDatabase, type Recording, type Store } from "../../src/database/index.ts";
import { authenticate, KeyUsage } from "../../src/keys/index.ts";
import { applyRetention } from "../../src/library/index.ts";
import { RecordingQueue } from "../../src/queue/index.ts";
import { Checkpoints, findAnswer, Recordings, storeAnswer } from "../../src/recordings/index.ts";
import { type Correction, Transcript } from "../../src/transcripts/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { post, someUrl } from "../support/forms.ts";
import { ApiServer } from "../support/http.ts";
import {
  RecordedStatements,
  type RecordedTransaction,
  readsBeforeWrites,
  slowSteps,
} from "../support/recorded-statements.ts";

/** Tables with one or more rows for each recording. */
const growing = [
  ...[
    "recordings",
    "segments",
    "corrected_segments",
    "translated_segments",
    "revisions",
    "kept_answers",
    "creates",
    "audio_usage",
  ],
  ...["live_sessions", "live_segments"],
];

/** Returns the methods of a class, so that the check covers each. */
const methodsOf = (of: { readonly prototype: object }) =>
  Object.getOwnPropertyNames(of.prototype).filter((name) => name !== "constructor");

/** Does everything that the server does with its database: calls each method at least once. */
async function useAll(server: ApiServer): Promise<void> {
  const { store, recordings, usage } = server;
  const now = server.now();
  const account = server.account("first");
  const workspace = server.workspace("first", "sales");
  const clients = [server.client("first"), server.client("first", { workspace })];
  const enter = () => server.enterQueued(account.id);
  const done = server.enterCompleted(account.id, 3);

  const statuses = ["", "status=completed", "status=completed,failed", "status=queued,processing,completed,failed"];
  const times = [
    "",
    "created_after=2026-01-01",
    "created_before=2036-01-01",
    "created_after=2026-01-01&created_before=2036-01-01",
  ];
  for (const client of clients) {
    const page = await client.fetch("/transcriptions?limit=1");
    const { next_cursor: cursor } = (await page.json()) as { next_cursor: string };
    const cursors = [
      "",
      cursor === "" ? `cursor=${Buffer.from(`r${done}`).toString("base64url")}` : `cursor=${cursor}`,
    ];
    for (const status of statuses)
      for (const time of times)
        for (const from of cursors) {
          const answer = await client.fetch(
            `/transcriptions?${[status, time, from].filter((part) => part !== "").join("&")}`,
          );
          expect(answer.status).toBe(200);
        }
  }
  for (const client of clients) expect((await post(client, { url: someUrl }, "once")).status).toBe(201);
  const [client] = clients;
  if (client === undefined) throw new Error("there is no client");
  expect((await post(client, { url: someUrl }, "once")).status).toBe(201);
  expect((await client.fetch(`/transcriptions/${done}`)).status).toBe(200);
  expect((await client.fetch(`/transcriptions/${done}/segments?limit=2`)).status).toBe(200);
  for (const format of ["txt", "srt", "vtt"])
    expect((await client.fetch(`/transcriptions/${done}/export?format=${format}`)).status).toBe(200);
  expect((await fetch(`${server.origin}/metrics`)).status).toBe(200);
  authenticate(store, client.key, now);
  const lastUse = new KeyUsage(store);
  lastUse.record(client.keyId, now);
  lastUse.flush();

  const { rows, open } = recordings;
  const deleted = () => {
    const id = server.enterCompleted(account.id, 1);
    recordings.delete(id);
    return id;
  };
  const payload = Type.Object({});
  const worked = enter();
  const checkpoints = new Checkpoints(store, worked);
  const scope = { accountId: account.id, workspaceId: null, key: "twice" };
  const answer = { fingerprint: "", status: 422, body: "{}", recordingId: null };
  const segment = { index: 0, startSeconds: 0, endSeconds: 1, speaker: 0, text: "Hello.", words: "[]" };
  const uses: [object, Record<string, () => unknown>][] = [
    [
      Recordings,
      {
        create: () => recordings.create(newRecording(Bun.randomUUIDv7(), account.id)),
        get: () => recordings.get(worked),
        claim: () => recordings.claim(worked),
        progress: () => recordings.progress(worked, "decode", 5),
        fetched: () => recordings.fetched(worked, 7),
        describe: () => recordings.describe(worked, { language: "de" }),
        complete: () => recordings.complete(worked, [segment]),
        setHold: () => [true, false].map((held) => recordings.setHold(worked, held)),
        fail: () => recordings.fail(enter(), { reason: "internal", cause: "unexpected" }),
        delete: () => recordings.delete(worked),
        transientIds: () => recordings.transientIds(),
        keep: () => recordings.keep(worked),
        list: () => recordings.list({ statuses: ["failed"], createdBefore: now }, 5),
        deleteSomeOf: () => recordings.deleteSomeOf("another", 5),
        deletedIds: () => recordings.deletedIds(),
        requeue: () => recordings.requeue(worked),
        requeueAll: () => recordings.requeueAll(),
      },
    ],
    [
      open.constructor,
      {
        areOpen: () => open.areOpen([worked, done]),
        list: () => open.list(),
        countOf: () => open.countOf(account.id),
        counts: () => open.counts(),
        countsByPriority: () => open.countsByPriority(),
        longestQueuedSince: () => open.longestQueuedSince(),
        models: () => open.models(),
        waitingAudioSeconds: () => open.waitingAudioSeconds(),
      },
    ],
    [
      rows.constructor,
      {
        addSegments: () => rows.addSegments(server.enterProcessing(account.id), [segment]),
        addTranslation: () => rows.addTranslation(server.enterProcessing(account.id), [segment]),
        removeSegments: () => rows.removeSegments(enter(), 5),
        removeWork: () => rows.removeWork(server.enterFailed(account.id), 5),
        countPart: () => rows.countPart(worked, "north"),
        machinesOf: () => rows.machinesOf(worked),
        countRecognized: () => rows.countRecognized(worked, "whisper-base", 2),
        modelsOf: () => rows.modelsOf(worked),
        clearModels: () => rows.clearModels(worked),
        endedWithWork: () => rows.endedWithWork(),
        removeDeleted: () => rows.removeDeleted([deleted()]),
        removeSearchable: () => rows.removeSearchable([deleted()]),
      },
    ],
    [
      Checkpoints,
      {
        ofTrack: () => checkpoints.ofTrack(1),
        write: () => checkpoints.write("decode", 0, payload, {}, () => {}),
        read: () => checkpoints.read("decode", 0, payload),
        finished: () => checkpoints.finished("decode"),
        countExcept: () => checkpoints.countExcept(["decode"]),
        clear: () => checkpoints.clear("decode"),
      },
    ],
    [
      Usage,
      {
        creates: () => [0, 1, 1e6].map((limit) => usage.creates(account.id, { limit, windowMilliseconds: 1e9 }, now)),
        spendCreate: () => store.transaction((writer) => usage.spendCreate(writer, account.id, now)),
        audioSeconds: () => usage.audioSeconds(account.id, now),
        hasAllowance: () => usage.hasAllowance(account.id, 5, now),
        admit: () => usage.admit(account.id, done, 5, now),
        chargeAudio: () => usage.chargeAudio(done, 5, 5),
        chargeSession: () => usage.chargeSession(done, 5, 60),
        transferCharge: () => usage.transferCharge(store, done, worked),
        refundAudio: () => usage.refundAudio(done),
      },
    ],
  ];
  for (const [of, methods] of uses) {
    expect(Object.keys(methods).sort()).toEqual(methodsOf(of as { prototype: object }).sort());
    for (const use of Object.values(methods)) await use();
  }
  storeAnswer(store, scope, answer, now);
  findAnswer(store, scope, now);
  const transcript = new Transcript(store, recordings.get(done) as Recording);
  const readAll = async () => {
    transcript.segments(0, 5);
    transcript.segment(0);
    [...transcript.allSegments()];
    transcript.speakerNumbers();
    transcript.speakerNames();
    transcript.rename(new Map([[0, "Ada"]]));
    transcript.revisions(null, 5);
    transcript.revisions(3, 5);
    transcript.changesAfter(0, { author: "Ada", editor: "page-one" });
    await transcript.compareWith(Math.min(1, transcript.revision));
    return await transcript.outline();
  };
  await readAll();
  const everything: Correction[] = [
    { action: "text", segment: 0, text: "One two." },
    { action: "split", segment: 0, character: 3 },
    { action: "merge", segment: 0, next: 3 },
    { action: "assign", segments: [1], speaker: null },
    { action: "merge_speakers", from: 0, into: 1 },
    {
      ...{ action: "replace", find: "o", replacement: "a", after: null, except: [] },
      matches_case: true,
      whole_words: false,
    },
    { action: "revert", revision: 6 },
    { action: "restore", revision: 2 },
  ];
  everything.forEach((correction, sequence) => {
    const by = { author: "Ada", editor: "page-one", sequence, seen: sequence, now };
    expect(transcript.correct(correction, by)?.number).toBe(sequence + 1);
  });
  await readAll();
  await applyRetention(server, { audioDays: 0, completedDays: 1 }, now + 1e10);
  const process = async () => null;
  const queue = new RecordingQueue({
    recordings,
    process,
    fetch: process,
    slots: 1,
    priorityOf: () => 0,
    now: () => now,
    onFault: () => {},
  });
  queue.recover();
  await queue.stop();
  await server.removeAccount(account);
}

describe("with any number of recordings", () => {
  let store: Store;
  let statements: readonly string[];
  let transactions: readonly RecordedTransaction[];
  beforeAll(async () => {
    store = openDatabase(":memory:");
    using recorded = new RecordedStatements();
    using server = new ApiServer({ recordingsPerAccount: 1000 });
    recorded.statements.clear();
    await useAll(server);
    ({ transactions } = recorded);
    statements = [...recorded.statements].filter((sql) => /^\s*(select|insert|update|delete|with)\b/i.test(sql));
  });
  afterAll(() => store.$client.close());

  test("no statement of the server scans or sorts all of them", () => {
    expect(statements.length).toBeGreaterThan(60);
    const slow = statements
      .map((sql) => ({ sql, steps: slowSteps(store.$client, sql, growing) }))
      .filter(({ steps }) => steps.length > 0);
    expect(slow).toEqual([]);
  });

  test("no transaction reads before it writes without the write lock", () => {
    expect(transactions.filter(({ behavior }) => behavior === "deferred").length).toBeGreaterThan(5);
    expect(transactions.filter(({ behavior }) => behavior === "immediate").length).toBeGreaterThan(20);
    expect([...new Set(transactions.flatMap(readsBeforeWrites))]).toEqual([]);
  });

  test("every foreign key has an index, which deletions use", () => {
    const { $client } = store;
    const all = <T>(sql: string) => $client.prepare<T, []>(sql).all();
    const unfound = all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'").flatMap(({ name }) => {
      const indexed = all<{ name: string }>(`PRAGMA index_list(${name})`).map(
        (index) => all<{ name: string }>(`PRAGMA index_info(${index.name})`)[0]?.name,
      );
      return all<{ from: string }>(`PRAGMA foreign_key_list(${name})`)
        .filter(({ from }) => !indexed.includes(from))
        .map(({ from }) => `${name}.${from}`);
    });
    expect(unfound).toEqual([]);
  });
});

describe("the check of query plans", () => {
  const database = new Database(":memory:");
  database.run(
    "CREATE TABLE recordings (id TEXT PRIMARY KEY, status TEXT); CREATE INDEX by_status ON recordings (status)",
  );
  const cases: [string, string[]][] = [
    ["SELECT * FROM recordings WHERE id < ? ORDER BY id DESC LIMIT 5", []],
    ["SELECT count(*) FROM recordings", ["SCAN recordings USING COVERING INDEX by_status"]],
    ["SELECT * FROM recordings WHERE status LIKE 'q%'", ["SCAN recordings"]],
    ["DELETE FROM recordings WHERE status || '' = ?", ["SCAN recordings"]],
    ["SELECT * FROM recordings WHERE status = ? ORDER BY id", ["USE TEMP B-TREE FOR ORDER BY"]],
  ];
  test.each(cases)("%s: %p", (sql, expected) => {
    expect(slowSteps(database, sql, growing)).toEqual(expected);
  });
});
