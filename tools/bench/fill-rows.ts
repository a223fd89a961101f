import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { newServer } from "../../harness/measured-server.ts";
import { createAccount, createWorkspace } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { createKey } from "../../src/keys/index.ts";

const DAY = 86_400_000;
const YEARS = 2;
/** One of this many recordings has segments, ten of them; with more, the database would have gigabytes. */
const WITH_SEGMENTS = 20;

/** Returns a server that is not started, on a database with `count` recordings. @param stack removes it at its end */
export function filledServer(count: number, stack: AsyncDisposableStack) {
  // No link leads anywhere: created recordings fail in the background, one after another.
  const server = stack.use(newServer({ TRANSCRIBE_LOG_LEVEL: "error", TRANSCRIBE_QUEUE_SLOTS: "1" }));
  mkdirSync(server.dataDirectory, { recursive: true });
  const databasePath = join(server.dataDirectory, "transcribe.db");
  return { server, databasePath, filled: fillDatabase(databasePath, count, Date.now()) };
}

/**
 * Fills a new database with completed recordings of two years and three accounts, 1 % of them failed. Adds their usage,
 * and the creates and idempotency answers of the last day.
 * @param now milliseconds since the epoch
 * @returns `secret`: key of an account that has 90 % of the recordings; `pinnedSecret`: key pinned to a workspace of that
 * account with 0.1 % of them; `ids`: completed recordings of that account with ten segments each, from the whole period;
 * `middle`: creation time of the recording in the middle, in milliseconds since the epoch
 */
export function fillDatabase(path: string, count: number, now: number) {
  const store = openDatabase(path);
  const { $client: client } = store;
  const by = { actor: "bench", now };
  const [account, ...others] = ["first", "second", "third"].map((name) => createAccount(store, name, by));
  if (account === undefined) throw new Error("no account was created");
  const workspace = createWorkspace(store, account, "sales", by);
  const { secret } = createKey(store, account, { name: "bench" }, by);
  const { secret: pinnedSecret } = createKey(store, account, { name: "pinned", workspace }, by);
  const values = {
    count,
    workspace: workspace.id,
    first: account.id,
    second: others[0]?.id ?? "",
    third: others[1]?.id ?? "",
    begin: now - YEARS * 365 * DAY,
    step: Math.floor((YEARS * 365 * DAY) / count),
    withSegments: WITH_SEGMENTS,
    lastDay: now - DAY,
  };
  const fill = client.transaction(() => {
    client.run("CREATE TEMP TABLE filled (i INTEGER PRIMARY KEY, id TEXT, account TEXT, at INTEGER)");
    client.prepare(numbered).run(values);
    for (const statement of [recordings, segments, usage, creates, answers]) client.prepare(statement).run(values);
  });
  fill();
  const every = Math.max(1, Math.floor(count / WITH_SEGMENTS / 1000)) * WITH_SEGMENTS;
  const ids = client
    .prepare<{ id: string }, [number, string]>(
      "SELECT id FROM filled WHERE i % ? = 0 AND account = ? AND i % 100 <> 7 ORDER BY i",
    )
    .all(every, account.id)
    .map(({ id }) => id);
  client.run("DROP TABLE filled");
  client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  client.close();
  return { secret, pinnedSecret, ids, middle: values.begin + Math.floor(count / 2) * values.step };
}

export type FilledDatabase = ReturnType<typeof fillDatabase>;

/** Ids in the form of UUID v7: 48 bits of time, then a unique number. */
const numbered = `
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $count)
INSERT INTO filled
SELECT i,
  printf('%08x-%04x-7%03x-%04x-%012x', at >> 16, at & 65535, i & 4095, 32768 | ((i >> 12) & 16383), i),
  CASE i % 10 WHEN 3 THEN CASE WHEN i % 20 < 10 THEN $second ELSE $third END ELSE $first END,
  at
FROM (SELECT i, $begin + i * $step AS at FROM n)`;

const recordings = `
INSERT INTO recordings (id, account_id, workspace_id, status, language, source_name, size_bytes, duration_seconds,
  percent, failure_reason, speech_model, created_at, updated_at)
SELECT id, account, CASE WHEN i % 1000 = 0 THEN $workspace END, CASE i % 100 WHEN 7 THEN 'failed' ELSE 'completed' END,
  'en', 'recording ' || i, 1000000, 60.0, 100, CASE i % 100 WHEN 7 THEN 'no_speech' END, 'whisper-base', at, at + 30000
FROM filled`;

const segments = `
WITH RECURSIVE n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k < 9)
INSERT INTO segments
SELECT id, k, k * 5000, k * 5000 + 4500, k % 2, 'What somebody said in the segment ' || k || ' of a recording.',
  '[[" What",0,200,0.9],[" somebody",200,700,0.9],[" said",700,900,0.9],[" in",900,1000,0.9],[" the",1000,1100,0.9]]', 0
FROM filled, n WHERE i % $withSegments = 0`;

const usage = `
INSERT INTO audio_usage (account_id, day, recording_id, seconds)
SELECT account, strftime('%Y-%m-%d', at / 1000, 'unixepoch'), id, 60.0 FROM filled`;

const creates = "INSERT INTO creates (account_id, created_at) SELECT account, at FROM filled WHERE at > $lastDay";

const answers = `
INSERT INTO kept_answers (account_id, workspace_id, key, fingerprint, status, body, recording_id, created_at)
SELECT account, '', id, '', 201, '{}', id, at FROM filled WHERE at > $lastDay`;
