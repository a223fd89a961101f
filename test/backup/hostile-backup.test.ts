import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { restoreDatabase } from "../../src/backup/restore-backup.ts";
import { openDatabase } from "../../src/database/index.ts";
import { scopes } from "../../src/keys/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { limitNames } from "../../src/usage/index.ts";
import { releasedVersions, writeReleased } from "../support/released/index.ts";

/** An empty database of this version. */
const empty = openDatabase(":memory:").$client.serialize();

/** A data directory whose database is recognized by its version `mine`, and a manipulated backup. */
class Scene implements Disposable {
  readonly #parent = temporaryDirectory();
  readonly backup = join(this.#parent.path, "backup.db");
  readonly directory = new DataDirectory(join(this.#parent.path, "data"));

  constructor(sql: string) {
    this.#write(this.directory.databasePath, "INSERT INTO versions (version, since) VALUES ('mine', 0)");
    this.#write(this.backup, sql);
  }

  #write(path: string, sql: string): void {
    writeFileSync(path, empty);
    using database = new Database(path, { readwrite: true });
    database.run(`PRAGMA synchronous = OFF; ${sql}`);
  }

  restore(): string | null {
    return restoreDatabase(this.directory, this.backup, 0);
  }

  /** Reads from the database of the data directory. */
  read(sql: string): unknown[] {
    using database = new Database(this.directory.databasePath, { readonly: true });
    return database.query(sql).all();
  }

  names(): string[] {
    return readdirSync(this.#parent.path).filter((name) => !name.startsWith("backup.db"));
  }

  [Symbol.dispose](): void {
    this.#parent[Symbol.dispose]();
  }
}

describe("a manipulated backup", () => {
  const account = "01a1fdbb-a5b1-7058-8ea9-0c142185c001";
  const good = "01a1fdbb-a5b1-7058-8ea9-0c142185c002";
  const other = "01a1fdbb-a5b1-7058-8ea9-0c142185c003";
  const otherAccount = "01a1fdbb-a5b1-7058-8ea9-0c142185c004";
  const sha = "0123456789abcdef".repeat(4);
  const recording = (columns: string, values: string, id = `'${good}'`) =>
    `INSERT INTO recordings (id, account_id, status, created_at, updated_at${columns}) VALUES (${id}, '${account}', 'queued', 0, 0${values})`;
  const password = (costs: string) =>
    `INSERT INTO console_password VALUES (1, '$argon2id$v=19$${costs}$${"A".repeat(43)}$${"B".repeat(43)}', 0)`;
  const user = ({ id = good, role = "member", name = "Anna", hash = "m=65536,t=2,p=1", createdAt = "0" }) =>
    `INSERT INTO users (id, name, email, role, all_accounts, created_at, password_hash) VALUES ('${id}', '${name}', 'a@example.org', '${role}', 0, ${createdAt}, '$argon2id$v=19$${hash}$${"A".repeat(43)}$${"B".repeat(43)}')`;
  const key = (scopes: string) =>
    `INSERT INTO api_keys (id, account_id, name, hint, hash, scopes, created_at) VALUES ('${good}', '${account}', 'a', 'a', 'a', '${scopes}', 0)`;
  const segment = (words: string) =>
    `${recording("", "")}; INSERT INTO segments VALUES ('${good}', 0, 0, 1, 0, 'a', '${words}', 0)`;
  const corrected = (words: string) =>
    `${recording("", "")}; INSERT INTO corrected_segments VALUES ('${good}', 0, 0, 0, 1, 0, 'a', '${words}', 1, 0)`;
  const translated = (words: string, speaker = 0) =>
    `${recording("", "")}; INSERT INTO translated_segments VALUES ('${good}', 0, 0, 1, ${speaker}, 'a', '${words}')`;
  const uncertain = (table: string, row: (words: string) => string) =>
    `${row("[]")}; UPDATE ${table} SET is_speaker_uncertain = 2`;
  const parts = (of: "machine" | "model", name: string, number: number) =>
    `${recording("", "")}; INSERT INTO recording_${of}s VALUES ('${good}', ${name}, ${number})`;
  const chosen = (kind: string, model: string) => `INSERT INTO chosen_models VALUES ('${kind}', '${model}', 0)`;
  const endless = "printf('%.*c', 5000000, 'x')";
  const revision = (action: string, changes: string) =>
    `${recording("", "")}; INSERT INTO revisions VALUES ('${good}', 1, 'a', 0, ${action}, 'a', 0, NULL, NULL, 1, 0, ${changes})`;
  const folder = (column: string, value: string) =>
    `INSERT INTO folders (id, account_id, path, formats, created_at) VALUES ('${good}', '${account}', '/srv/in', '["srt"]', 0);
      UPDATE folders SET ${column} = ${value}`;
  const folderFile = (column: string, value: string) =>
    `${folder("waiting", "0")}; INSERT INTO folder_files (id, folder_id, state, name, size_bytes, modified, inode, created_at)
      VALUES ('${good}', '${good}', 'failing', 'a b\n.mp3', 1, '1', '1', 0); UPDATE folder_files SET ${column} = ${value}`;
  /** A voice of an account, and one of a speaker of a recording. @param embedding an SQL expression */
  const voice = (embedding: string, model = sha, name = "'Anna'") =>
    `${recording("", "")}; INSERT INTO voices VALUES ('${good}', '${account}', ${name}, '${model}', 'a', 0);
     INSERT INTO voice_examples VALUES (1, '${good}', NULL, 0, 9.5, ${embedding});
     INSERT INTO speaker_voices VALUES ('${good}', 0, '${account}', '${model}', 9.5, ${embedding})`;
  /** A live session with a segment, of which columns have other values. */
  const live = (table: string, column: string, value: string) =>
    `INSERT INTO live_sessions (id, account_id, holder, options, speaker_names, settled_samples, created_at)
      VALUES ('${good}', '${account}', 'a', '{}', '{"S1":"Anna"}', 0, 0);
     INSERT INTO live_segments VALUES ('${good}', 0, '${good}', 0, 1, 1, 'a', '[]'); UPDATE ${table} SET ${column} = ${value}`;
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  /** A webhook with a pending event. */
  const webhook = (column = "url", value = "'https://app.example.org/'") =>
    `INSERT INTO webhooks (id, account_id, url, events, secret, created_at, created_by)
      VALUES ('${good}', '${account}', 'https://app.example.org/', '["recording.deleted"]', '${secret}', 0, 'a');
     INSERT INTO webhook_deliveries (id, webhook_id, type, body, state, created_at, due_at)
      VALUES ('${good}', '${good}', 'recording.deleted', '{}', 'pending', 0, 0);
     UPDATE webhooks SET ${column} = ${value}`;
  /** A recording of another account, and one that processes it again. */
  const rerun = (of: string, isTransient = 1) =>
    `INSERT INTO accounts (id, name, standing, priority, limits, created_at)
      VALUES ('${otherAccount}', 'other', 'active', 0, '{}', 0); ${recording("", "", `'${other}'`).replace(account, otherAccount)};
     ${recording(", is_transient, rerun_of, rerun_by", `, ${isTransient}, '${of}', 'anna'`)}`;
  const otherSchemas: [string, string][] = [
    [
      "a trigger that gives every revoked key back",
      "CREATE TRIGGER again AFTER UPDATE ON api_keys BEGIN UPDATE api_keys SET revoked_at = NULL; END",
    ],
    ["a trigger on what the restore itself deletes", "CREATE TRIGGER t DELETE ON checkpoints BEGIN SELECT 1; END"],
    ["a view", "CREATE VIEW more AS SELECT * FROM accounts"],
    ["a table", "CREATE TABLE more (x)"],
    ["an index on an expression", "CREATE INDEX more ON accounts (hex(name))"],
    ["a column that is made by an expression", "ALTER TABLE accounts ADD COLUMN more TEXT AS (hex(name))"],
    ["a table that is gone", "DROP TABLE audit_log"],
  ];
  const changes: [string, string, string][] = [
    ...otherSchemas.map(([what, sql]): [string, string, string] => [what, sql, "tables, triggers or views"]),
    ["a rerun that would read the audio of another account", rerun(other), "recordings.rerun_of"],
    ["an audio track of no number", recording(", audio_track", ", -1"), "recordings.audio_track"],
    ["no audio track", recording(", audio_tracks", ", 0"), "recordings.audio_tracks"],
    ["a rerun of itself", rerun(good), "recordings.rerun_of"],
    ["a rerun of no recording", rerun(account), "recordings.rerun_of"],
    [
      "a rerun in lists",
      rerun(other, 0).replaceAll(otherAccount, account).replace(/^.*?;/s, ""),
      "recordings.rerun_of",
    ],
    ["a folder with a relative path", folder("path", "'srv/in'"), "folders.path"],
    ["a folder whose path names its parent", folder("path", "'/srv/in/../../etc'"), "folders.path"],
    ["a folder whose target names its parent", folder("target", "'/srv/..'"), "folders.target"],
    ["a format that is a path", folder("formats", `'["../x"]'`), "folders.formats"],
    ["formats that are no list", folder("formats", "'srt'"), "folders.formats"],
    ["incomplete files that are no list", folder("incomplete", "'{}'"), "folders.incomplete"],
    [
      "an incomplete file for an unknown reason",
      folder("incomplete", `'[{"name":"a","doubt":"x"}]'`),
      "folders.incomplete",
    ],
    ["an unknown hindrance", folder("hindrance", "'none'"), "folders.hindrance"],
    ["a folder's language that is a path", folder("language", "'../'"), "folders.language"],
    ["a folder's impossible time", folder("seen_at", "9e15"), "folders.seen_at"],
    ["a file of a folder that is a path", folderFile("name", "'../x'"), "folder_files.name"],
    ["a file of a folder that is the parent", folderFile("name", "'..'"), "folder_files.name"],
    ["a file of a folder with a NUL", folderFile("name", "'a' || char(0)"), "folder_files.name"],
    ["a file of a folder in an unknown state", folderFile("state", "'lost'"), "folder_files.state"],
    ["a file of a folder with an unknown reason", folderFile("reason", "'lost'"), "folder_files.reason"],
    ["a file of a folder with a time that is no number", folderFile("modified", "'x'"), "folder_files.modified"],
    ["a file of no folder", folderFile("folder_id", `'${account}'`), "belong to no account"],
    ["a recording's id that leads outside", recording("", "", "'../../victim'"), "recordings.id"],
    ["a recording's id with more behind a NUL", recording("", "", `'${good}' || char(0) || '/../x'`), "recordings.id"],
    ["a recording's id that is a directory", recording("", "", "'.'"), "recordings.id"],
    ["a recording's id in capitals", recording("", "", `'${good.toUpperCase()}'`), "recordings.id"],
    ["a recording of no account", recording("", "").replace(account, good), "belong to no account"],
    ["an account's id that is none", "UPDATE accounts SET id = '../x'", "accounts.id"],
    ["a chosen model that is a path", chosen("speech", "/etc/shadow"), "chosen_models.model"],
    ["a chosen model that leads outside", chosen("speech", "../../x"), "chosen_models.model"],
    ["a choice of another kind", chosen("voice", "x"), "chosen_models.kind"],
    ["a recording's model that leads outside", recording(", speech_model", ", '../x'"), "recordings.speech_model"],
    ["a digest that is none", recording(", speech_model_sha256", ", '../x'"), "recordings.speech_model_sha256"],
    ["a language that is an option", recording(", language", ", '-x'"), "recordings.language"],
    ["a link of another protocol", recording(", source_url", ", 'file:///etc/shadow'"), "recordings.source_url"],
    ["a vocabulary of megabytes", `UPDATE accounts SET vocabulary = ${endless}`, "accounts.vocabulary"],
    ["a prompt of megabytes", recording(", prompt", `, ${endless}`), "recordings.prompt"],
    ["a recording of no speakers", recording(", min_speakers", ", 0"), "recordings.min_speakers"],
    ["a recording of millions of speakers", recording(", max_speakers", ", 5000000"), "recordings.max_speakers"],
    ["a machine that is an escape sequence", parts("machine", "char(27) || '[2J'", 1), "recording_machines.machine"],
    ["a machine of less than one part", parts("machine", "'gpu1'", 0), "recording_machines.parts"],
    ["a recording's model that is a relative path", parts("model", "'../../shadow'", 1), "recording_models.model"],
    ["a model of less than one part", parts("model", "'whisper-base'", -1), "recording_models.parts"],
    ["limits that are no object", "UPDATE accounts SET limits = '[]'", "accounts.limits"],
    ["a retention that is no time", "UPDATE accounts SET audio_days = 9e15", "accounts.audio_days"],
    ["a retention before the end", "UPDATE accounts SET completed_days = -1", "accounts.completed_days"],
    ["limits that can't be parsed", "UPDATE accounts SET limits = '{'", "accounts.limits"],
    ["a limit that there is not", `UPDATE accounts SET limits = '{"all":1}'`, "accounts.limits"],
    ["a limit below zero", `UPDATE accounts SET limits = '{"creates_per_day":-1}'`, "accounts.limits"],
    ["a limit that is a text", `UPDATE accounts SET limits = '{"creates_per_day":"1"}'`, "accounts.limits"],
    ["scopes that can't be parsed", key("["), "api_keys.scopes"],
    ["a scope that there is not", key('["transcriptions:read","all"]'), "api_keys.scopes"],
    ["a scope that is no text", key("[null]"), "api_keys.scopes"],
    ["a key without a scope", key("[ ]"), "api_keys.scopes"],
    ["words that can't be parsed", segment('[["a",0,1,0.5]'), "segments.words"],
    ["words that are no list", segment('{"a":["a",0,1,0.5]}'), "segments.words"],
    ["a word that is nothing", segment("[null]"), "segments.words"],
    ["a word that is a text", segment('["word"]'), "segments.words"],
    ["a word without a probability", segment('[["a",0,1]]'), "segments.words"],
    ["a word that is a number", segment("[[1,0,1,0.5]]"), "segments.words"],
    ["a word whose time is a text", segment('[["a",0,1,0.5],["a","0",1,0.5]]'), "segments.words"],
    ["a word whose time is endless", segment('[["a",0,1e400,0.5]]'), "segments.words"],
    ["a word whose probability is an object", segment('[["a",0,1,{}]]'), "segments.words"],
    ["a word with a mark of another kind", segment('[["a",0,1,0.5,true]]'), "segments.words"],
    ["a word with more behind its mark", segment('[["a",0,1,0.5,false,false]]'), "segments.words"],
    [
      "more words than a segment can have",
      segment(JSON.stringify(Array(20_001).fill(["a", 0, 1, 1]))),
      "segments.words",
    ],
    ["a word of megabytes", segment(JSON.stringify([["a".repeat(2_000_000), 0, 1, 1]])), "segments.words"],
    ["a segment of megabytes", `${segment("[]")}; UPDATE segments SET text = ${endless}`, "segments.text"],
    ["a correction's words that are no list", corrected("{}"), "corrected_segments.words"],
    ["a translation's words that are no list", translated("{}"), "translated_segments.words"],
    ["a translation's speaker below zero", translated("[]", -1), "translated_segments.speaker"],
    ["a translation that is no yes or no", recording(", is_translated", ", 2"), "recordings.is_translated"],
    ["a doubt about a speaker that is no yes or no", uncertain("segments", segment), "segments.is_speaker_uncertain"],
    [
      "a doubt about a corrected speaker that is no yes or no",
      uncertain("corrected_segments", corrected),
      "corrected_segments.is_speaker_uncertain",
    ],
    ["facts of corrections that are no object", recording(", corrected_state", ", '[]'"), "recordings.corrected_state"],
    [
      "a speaker of a corrected transcript that is a text",
      recording(", corrected_state", `, '{"order":["0"],"nextSpeaker":1,"nextSegment":1,"trimmed":0}'`),
      "recordings.corrected_state",
    ],
    [
      "options of a live session that can't be parsed",
      live("live_sessions", "options", "'['"),
      "live_sessions.options",
    ],
    ["options of megabytes", live("live_sessions", "options", `'"' || ${endless} || '"'`), "live_sessions.options"],
    ["names that are numbers", live("live_sessions", "speaker_names", `'{"S1":1}'`), "live_sessions.speaker_names"],
    ["a position before the start", live("live_sessions", "settled_samples", "-1"), "live_sessions.settled_samples"],
    ["another end of a live session", live("live_sessions", "end_reason", "'run'"), "live_sessions.end_reason"],
    ["live words that can't be parsed", live("live_segments", "words", "'[1]'"), "live_segments.words"],
    ["a live segment of megabytes", live("live_segments", "text", endless), "live_segments.text"],
    ["a live speaker below all numbers", live("live_segments", "speaker", "-1"), "live_segments.speaker"],
    ["a turn that is a path", live("live_segments", "turn", "'../x'"), "live_segments.turn"],
    ["a revision of another kind", revision("'run'", "'[]'"), "revisions.action"],
    ["changes that can't be parsed", revision("'text'", "'['"), "revisions.changes"],
    ["an embedding with an infinity", voice("x'0000803F0000807F'"), "speaker_voices.embedding"],
    ["an embedding with a negative infinity", voice("x'000080FF0000803F'"), "speaker_voices.embedding"],
    ["an embedding with what is no number", voice("x'0000803F0000C07F0000803F'"), "speaker_voices.embedding"],
    ["an embedding that ends within a number", voice("x'0000803F00'"), "speaker_voices.embedding"],
    ["an embedding of nothing", voice("x''"), "speaker_voices.embedding"],
    ["an embedding of megabytes", voice("zeroblob(4000000)"), "speaker_voices.embedding"],
    [
      "an example with what is no number",
      `${voice("x'0000803F'")}; UPDATE voice_examples SET embedding = x'0000C0FF'`,
      "voice_examples.embedding",
    ],
    ["a voice of a model that is a path", voice("x'0000803F'", "../../x"), "voices.model"],
    ["a voice with a name of megabytes", voice("x'0000803F'", sha, endless), "voices.name"],
    ["a voice without a name", voice("x'0000803F'", sha, "''"), "voices.name"],
    [
      "a speaker whose letter takes all memory",
      `${voice("x'0000803F'")}; UPDATE speaker_voices SET speaker = 9007199254740991`,
      "speaker_voices.speaker",
    ],
    [
      "a voice of no account",
      voice("x'0000803F'").replace(`'${account}', 'Anna'`, `'${good}', 'Anna'`),
      "belong to no",
    ],
    [
      "a time that is no date",
      `UPDATE accounts SET subscribed_until = 8640000000000001; ${recording("", "")}`,
      "accounts.subscribed_until",
    ],
    [
      "a recording made before there were any",
      recording("", "").replace("0, 0)", "-8640000000000001, 0)"),
      "recordings.created_at",
    ],
    ["a password that takes all memory to check", password("m=4194304,t=2,p=1"), "console_password.hash"],
    ["a password that takes hours to check", password("m=65536,t=4000000,p=1"), "console_password.hash"],
    ["a user's password that takes hours to check", user({ hash: "m=65536,t=4000000,p=1" }), "users.password_hash"],
    ["a user of an unknown role", user({ role: "root" }), "users.role"],
    ["a user's id that is no id", user({ id: "1" }), "users.id"],
    ["a user who was created at no time", user({ createdAt: "9e18" }), "users.created_at"],
    ["a user with an endless name", user({ name: "x".repeat(201) }), "users.name"],
    [
      "an audit entry after which no number is exact",
      "INSERT INTO audit_log VALUES (9007199254740993, 0, 'a', 'b', 'c', '{}')",
      "audit_log.id",
    ],
    [
      "a replacement that is too long",
      `INSERT INTO replacements VALUES ('${good}', '${account}', 'a', printf('%0201d', 0), 0, 0, 'a')`,
      "replacements.target",
    ],
    ["a position before the audit log", "INSERT INTO audit_forwarding VALUES (1, -1)", "audit_forwarding.position"],
    ["a webhook whose address is a file", webhook("url", "'file:///etc/passwd'"), "webhooks.url"],
    ["a webhook with an event that does not exist", webhook("events", `'["ping"]'`), "webhooks.events"],
    ["a webhook with a short secret", webhook("secret", "'whsec_AA=='"), "webhooks.secret"],
    [
      "a webhook with a former secret of others",
      webhook("former_secret", `printf('%050d', 0)`),
      "webhooks.former_secret",
    ],
    ["a webhook that is paused for no known reason", webhook("pause_reason", "'x'"), "webhooks.pause_reason"],
    [
      "a user of no account",
      `${user({})}; INSERT INTO user_accounts VALUES ('${good}', '${good}')`,
      "belong to no account",
    ],
  ];
  const anAccount = (limits = "{}") =>
    `INSERT INTO accounts (id, name, standing, priority, limits, created_at)
      VALUES ('${account}', 'acme', 'active', 0, '${limits}', 0)`;
  test.each(changes)("is refused without a change if it has %s", (_, sql, expected) => {
    using scene = new Scene(`PRAGMA foreign_keys = OFF; ${anAccount()}; ${sql}`);
    const { directory } = scene;
    mkdirSync(directory.filesOf(good).work);
    expect(() => scene.restore()).toThrow(new RegExp(`${expected}.*: it was changed by others$`));
    expect(scene.read("SELECT version FROM versions ORDER BY position DESC LIMIT 1")).toEqual([{ version: "mine" }]);
    expect([readdirSync(directory.incoming), existsSync(directory.filesOf(good).work)]).toEqual([[], true]);
  });

  test("is accepted with every limit, every scope, all words and any voice that the server writes", () => {
    const limits = JSON.stringify(Object.fromEntries(limitNames.map((name) => [name, 7])));
    const words = JSON.stringify([
      [" it''s", 0, 1200, 0.93],
      [" 你好", 1200, 1200, 1],
      [" ja", 1200, 1300, 0.5, false],
    ]);
    using scene = new Scene(`${anAccount(limits)};
      ${key(JSON.stringify(scopes))}; ${segment(words)}; INSERT INTO segments VALUES ('${good}', 1, 0, 1, 0, 'a', '[]', 0);
      ${folderFile("attempts", "1")};
      ${rerun(good).replace(/^.*;/s, "").replace(`('${good}'`, `('${other}'`)};
      ${voice("x'0000000000000080FFFF7F7F7F7F7FFF7F0000BF'").replace(/^.*?;/, "")}`);
    expect(scene.restore()).toContain("replaced-mine-");
  });

  test("does not keep later entries of the audit log from their receiver", () => {
    const entry = (id: number) => `INSERT INTO audit_log VALUES (${id}, 0, 'a', 'b', 'c', '{}')`;
    for (const [position, expected] of [
      [1_000_000, 7],
      [3, 3],
    ] as const) {
      using scene = new Scene(`${entry(3)}; ${entry(7)}; INSERT INTO audit_forwarding VALUES (1, ${position})`);
      scene.restore();
      expect(scene.read("SELECT position FROM audit_forwarding")).toEqual([{ position: expected }]);
    }
  });

  test("keeps webhooks and not their events, which receivers have had since", () => {
    using scene = new Scene(`${anAccount()}; ${webhook()}`);
    scene.restore();
    expect(scene.read("SELECT url, secret FROM webhooks")).toEqual([{ url: "https://app.example.org/", secret }]);
    expect(scene.read("SELECT id FROM webhook_deliveries")).toEqual([]);
  });

  test("keeps translations of completed recordings, and no others", () => {
    const translation = (id: string) => `INSERT INTO translated_segments VALUES ('${id}', 0, 0, 1, 0, 'a', '[]')`;
    using scene = new Scene(`${anAccount()}; ${recording("", "")}; ${translation(good)};
      ${recording(", is_translated", ", 1", `'${other}'`).replace("queued", "completed")}; ${translation(other)}`);
    scene.restore();
    expect(scene.read("SELECT recording_id AS id FROM translated_segments")).toEqual([{ id: other }]);
  });

  test("cannot name a file as the model of an open recording", () => {
    const done = good.replace(/2$/, "3");
    using scene = new Scene(`${anAccount()};
      ${recording(", speech_model", `, '/data/uploads/${good}'`)};
      ${recording(", speech_model", `, '/data/uploads/${good}'`, `'${done}'`).replace("queued", "completed")}`);
    scene.restore();
    expect(scene.read("SELECT id, speech_model AS model FROM recordings ORDER BY id")).toEqual([
      { id: good, model: null },
      { id: done, model: `/data/uploads/${good}` },
    ]);
  });

  test("is refused with a virtual table in place of ours, which is not read", () => {
    using scene = new Scene(
      "DROP TABLE migrations; CREATE VIRTUAL TABLE migrations USING fts5 (position, name, sha256)",
    );
    expect(() => scene.restore()).toThrow("no database of transcribe");
  });

  test("is refused with a unique index under a name of SQLite's own", () => {
    using scene = new Scene("CREATE UNIQUE INDEX hidden_of_ours ON recordings (status)");
    // SQLite refuses to create an index of that name but accepts it in a file. Both names have the same length.
    const bytes = readFileSync(scene.backup, "latin1");
    writeFileSync(scene.backup, bytes.replaceAll("hidden_of_ours", "sqlite_of_ours"), "latin1");
    expect(() => scene.restore()).toThrow("it was changed by others");
  });

  test("cannot choose a file name by its version", () => {
    using scene = new Scene("INSERT INTO versions (version, since) VALUES ('/../../../outside/\u001b[2J', 0)");
    scene.restore();
    const replaced = scene.restore() ?? "";
    expect(replaced).toBe(join(scene.directory.root, "backups/replaced-unknown-19700101T000000000Z.db"));
    expect(existsSync(replaced)).toBe(true);
    expect(scene.names()).toEqual(["data"]);
  });
});

test.each([...releasedVersions])("a backup of %s is accepted", (version) => {
  using parent = temporaryDirectory();
  const directory = new DataDirectory(join(parent.path, "data"));
  const backup = join(parent.path, "backup.db");
  writeReleased(version, backup);
  expect(restoreDatabase(directory, backup, 0)).toBeNull();
});
