import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import {
  BackupError,
  databaseState,
  MigrationError,
  migrate,
  migrationsUpTo,
  pendingMigrations,
  values,
} from "../database/index.ts";
import { messageOf } from "../text/index.ts";

/**
 * Checks a backup's database, which may come from anybody, before it is used: https://sqlite.org/security.html
 * @throws {BackupError} when it is not a sound database with our schema and values
 * @throws {MigrationError} when it is of a newer version
 */
export function checkBackup(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new BackupError(`there is no file ${file}`);
  let backup: Database | null = null;
  try {
    backup = new Database(file, { readwrite: true });
    for (const guard of ["trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"])
      backup.run(`PRAGMA ${guard}`);
    const state = databaseState(backup);
    if (state.applied.length === 0) throw new BackupError("this is no database of transcribe");
    pendingMigrations(state);
    requireOwnSchema(backup);
    const found = backup.query<Record<string, string>, []>("PRAGMA integrity_check(1)").get()?.integrity_check ?? "";
    if (found !== "ok") throw new BackupError(`the backup is damaged: ${found.replaceAll("\n", " ")}`);
    requireOwnValues(backup);
  } catch (error) {
    if (error instanceof BackupError || error instanceof MigrationError) throw error;
    throw new BackupError(`the backup can't be read: ${messageOf(error)}`, { cause: error });
  } finally {
    backup?.close();
  }
}

/**
 * Requires that a database has exactly the tables and indexes that our migrations make. A foreign trigger or view would
 * stay active in the server: a trigger could restore a revoked key.
 * @throws {BackupError} when the schema differs
 */
function requireOwnSchema(database: Database): void {
  using ours = new Database(":memory:");
  migrate(ours, { list: migrationsUpTo(databaseState(database)) });
  const expected = schemaOf(ours);
  const found = schemaOf(database);
  if (found.length === expected.length && found.every((entry, index) => entry === expected[index])) return;
  throw new BackupError(
    "the backup has tables, triggers or views that transcribe does not make: it was changed by others",
  );
}

/**
 * Returns the schema without the entries that SQLite creates: sequences, statistics, and indexes of constraints, which
 * have no SQL.
 */
function schemaOf(database: Database): string[] {
  return database
    .query<{ type: string; name: string; tbl_name: string; sql: string | null }, []>(
      `SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE NOT (type = 'index' AND sql IS NULL)
        AND NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'))`,
    )
    .all()
    .map((row) => JSON.stringify(row))
    .sort();
}

const hexDigits = (count: number) => "[0-9a-f]".repeat(count);
const uuid = `? GLOB '${[8, 4, 4, 4, 12].map(hexDigits).join("-")}'`;
const sha256 = `? GLOB '${hexDigits(64)}'`;
/** The same rule as modelIdSchema in models/: a path made of the id cannot lead elsewhere. */
const modelId = "(? GLOB '[a-z0-9]*' AND ? NOT GLOB '*[^a-z0-9._-]*' AND length(?) <= 80)";
const language = "(? GLOB '[a-z][a-z]' OR ? GLOB '[a-z][a-z][a-z]')";

/**
 * Returns an SQL condition for a JSON array or object whose elements fulfil another one, which may use `key`, `type`
 * and `value`. Readers trust stored JSON, so another shape would make every request fail that reads it.
 */
const json = (kind: "array" | "object", element: string) =>
  `CASE WHEN json_valid(?) THEN json_type(?) = '${kind}'
    AND NOT EXISTS (SELECT 1 FROM json_each(?) WHERE NOT coalesce(${element}, 0)) END`;

/** The same names as in AccountLimits in usage/. */
const limits = json(
  "object",
  `type = 'integer' AND value >= 0 AND key ${values.oneOf([
    ...["audio_minutes_per_day", "recordings_per_account", "live_sessions_per_account"],
    ...["creates_per_hour", "creates_per_day", "requests_per_minute"],
  ])}`,
);
/** At least one scope. */
const scopes = `(? GLOB '*"*' AND ${json("array", `type = 'text' AND value ${values.oneOf(values.scopes)}`)})`;
/** The form that segments/ writes, see StoredWord there: the fifth element, false, is not always present. */
const words = json(
  "array",
  `CASE WHEN type = 'array' THEN json_array_length(value) = 4 + (json_type(value, '$[4]') IS 'false')
    AND json_type(value, '$[0]') = 'text'
    AND json_type(value, '$[1]') = 'integer' AND json_type(value, '$[2]') = 'integer'
    AND json_type(value, '$[3]') IN ('integer', 'real') END`,
);

/** Words take at most 3 MiB in an answer, which has to hold a segment. A corrected segment has up to 20,000. */
const boundedWords = `CASE WHEN octet_length(?) <= 1572864 AND json_valid(?) AND json_array_length(?) <= 20000
  THEN ${words} END`;
/** A corrected segment has up to 20,000 characters, and a recognized one some hundred. */
const segmentText = "length(?) <= 40000";

/** The form that transcripts/ writes, see CorrectedState in segments/. */
const correctedState = `CASE WHEN json_valid(?) THEN json_type(?, '$.order') = 'array'
  AND json_type(?, '$.nextSpeaker') = 'integer' AND json_type(?, '$.nextSegment') = 'integer'
  AND json_type(?, '$.trimmed') = 'integer' AND coalesce(json_type(?, '$.firstSegment'), 'integer') = 'integer'
  AND NOT EXISTS (SELECT 1 FROM json_each(?, '$.order') WHERE type <> 'integer') END`;

/** Names of machines in a fleet; a worker of a pool has a point in its name. */
const machineName = "(? NOT GLOB '*[^A-Za-z0-9_.-]*' AND length(?) BETWEEN 1 AND 127)";

/** SQL condition for a yes or no. */
const flag = "? IN (0, 1)";

/** SQL condition for a speech model: an id, or the path of a file that the settings named. */
const speechModel = `(${modelId} OR ? GLOB '/*')`;

/**
 * SQL condition for the hash of a password. Other cost parameters of argon2id could keep the server's memory and
 * processor busy with one sign-in attempt.
 */
const passwordHash = "(? GLOB '$argon2id$v=19$m=65536,t=2,p=1$*' AND length(?) <= 200)";

/** SQL condition for a rerun: it reads the audio of another recording, and changes it, only within its account. */
const rerun = `(recordings.is_transient = 1 AND EXISTS (SELECT 1 FROM recordings AS original
  WHERE original.id = recordings.rerun_of AND original.account_id = recordings.account_id AND original.rerun_of IS NULL))`;

/** SQL condition for a number of parts or audio tracks of a recording. */
const partCount = "? BETWEEN 1 AND 1000000000";

/** Greatest id of the audit log: the ids of later entries are still exact numbers. */
const MAX_AUDIT_ID = 1_000_000_000_000;

/** SQL condition for the secret of a webhook: 32 bytes in base64 after a prefix. */
const webhookSecret = "(? GLOB 'whsec_*=' AND substr(?, 7) NOT GLOB '*[^A-Za-z0-9+/=]*' AND length(?) = 50)";

/** SQL condition for a vocabulary, which is passed to native code. The server itself accepts only much shorter ones. */
const vocabulary = "length(?) <= 20000";

/** SQL condition for the days of an account's own retention, which become a time. */
const retentionDays = "? BETWEEN 0 AND 36500";

/** Maximum length of a voice's name in characters. */
const MAX_NAME_CHARACTERS = 100;

/** SQL condition for a bound of the number of speakers, which is passed to the clustering of voices. */
const speakerCount = "? BETWEEN 1 AND 50";

/** Maximum size of a stored voice embedding, eight times that of the model in use. */
const MAX_EMBEDDING_BYTES = 6144;

/**
 * SQL condition for an embedding: 32-bit floats that are finite. Their exponent has its largest value, all ones, in an
 * infinity and in what is no number. It is in the last two bytes of each float.
 */
const embedding = `(typeof(?) = 'blob' AND length(?) BETWEEN 4 AND ${MAX_EMBEDDING_BYTES} AND length(?) % 4 = 0
  AND NOT EXISTS (
    WITH RECURSIVE byte (at) AS (SELECT 3 UNION ALL SELECT at + 4 FROM byte WHERE at + 4 < length(?))
    SELECT 1 FROM byte WHERE hex(substr(?, at + 1, 1)) IN ('7F', 'FF') AND hex(substr(?, at, 1)) >= '80'))`;
/** SQL condition for the seconds of speech behind an embedding. */
const speechSeconds = "? BETWEEN 0 AND 100000000";
/** SQL condition for the number of a speaker, which becomes a letter. */
const speakerNumber = "? BETWEEN 0 AND 1000000";

/**
 * SQL condition for a valid time in milliseconds (ECMAScript's time range). Any other value would make every response
 * that shows it fail.
 */
const time = "(? BETWEEN -8640000000000000 AND 8640000000000000)";
/** Names of columns that hold such a time. */
const timeName = /^(?:at|\w+_(?:at|until|since))$/;

/** SQL condition for an absolute path that names no parent directory. */
const absolutePath = "(? GLOB '/*' AND ? NOT GLOB '*/../*' AND ? NOT GLOB '*/..' AND length(?) <= 4096)";
/** SQL condition for the name of a file: a path made of it cannot lead elsewhere. */
const fileName = "(? NOT GLOB '*/*' AND ? NOT IN ('', '.', '..') AND length(?) <= 255)";
/** SQL condition for a JSON array of export formats, which become the extensions of files. */
const formats = json("array", "type = 'text' AND value NOT GLOB '*[^a-z]*' AND length(value) BETWEEN 1 AND 16");

/** SQL condition for a JSON array of files that seem to be incomplete. */
const incompleteFiles = json(
  "array",
  `type = 'object' AND json_type(value, '$.name') = 'text' AND json_extract(value, '$.doubt') ${values.oneOf(values.doubts)}`,
);

/**
 * Rules for values that become a path, a fetched link, an argument of native code or a date, or that are parsed: SQL
 * conditions that are true for a valid value, by table and column; `?` stands for the column. All other values are
 * numbers, whose type the tables enforce, and texts that are only compared or shown. Times are found by their names.
 */
const rules: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  accounts: { id: uuid, limits, vocabulary, audio_days: retentionDays, completed_days: retentionDays },
  workspaces: { id: uuid },
  api_keys: { id: uuid, scopes },
  recordings: {
    id: uuid,
    rerun_of: rerun,
    speech_model: speechModel,
    speech_model_sha256: sha256,
    language,
    pinned_language: language,
    source_url: "((lower(?) GLOB 'http://*' OR lower(?) GLOB 'https://*') AND length(?) <= 32768)",
    vocabulary,
    prompt: vocabulary,
    audio_track: partCount,
    audio_tracks: partCount,
    min_speakers: speakerCount,
    max_speakers: speakerCount,
    corrected_state: correctedState,
    is_translated: flag,
  },
  kept_answers: { recording_id: uuid },
  audio_usage: { recording_id: uuid },
  chosen_models: { kind: "? = 'speech'", model: modelId },
  segments: { text: segmentText, words: boundedWords, is_speaker_uncertain: flag },
  corrected_segments: { text: segmentText, words: boundedWords, is_speaker_uncertain: flag },
  translated_segments: { text: segmentText, words: boundedWords, speaker: speakerNumber },
  // Whoever reads changes checks them by their schema.
  revisions: { action: `? ${values.oneOf(values.correctionActions)}`, changes: "json_valid(?)" },
  recording_machines: { machine: machineName, parts: partCount },
  recording_models: { model: speechModel, parts: partCount },
  recording_tags: { tag: "length(?) BETWEEN 1 AND 50" },
  voices: { id: uuid, name: `length(?) BETWEEN 1 AND ${MAX_NAME_CHARACTERS}`, model: sha256 },
  speaker_voices: { model: sha256, speaker: speakerNumber, seconds: speechSeconds, embedding },
  voice_examples: { speaker: speakerNumber, seconds: speechSeconds, embedding },
  replacements: { id: uuid, source: "length(?) BETWEEN 1 AND 100", target: "length(?) BETWEEN 1 AND 200" },
  audit_log: { id: `? BETWEEN 1 AND ${MAX_AUDIT_ID}`, details: "json_valid(?)" },
  audit_forwarding: { id: "? = 1", position: `? BETWEEN 0 AND ${MAX_AUDIT_ID}` },
  folders: {
    id: uuid,
    path: absolutePath,
    target: absolutePath,
    formats,
    language,
    is_translated: flag,
    incomplete: incompleteFiles,
    hindrance: `? ${values.oneOf(values.hindrances)}`,
  },
  folder_files: {
    id: uuid,
    name: fileName,
    state: `? ${values.oneOf(values.fileStates)}`,
    reason: `? ${values.oneOf(values.fileFaults)}`,
    modified: "(? NOT GLOB '*[^0-9-]*' AND length(?) <= 24)",
    sha256,
  },
  // Whoever reads options and names checks them by their schemas.
  live_sessions: {
    id: uuid,
    options: "json_valid(?) AND length(?) <= 10000",
    speaker_names: json("object", `type = 'text' AND length(value) <= ${MAX_NAME_CHARACTERS}`),
    settled_samples: "? BETWEEN 0 AND 1000000000000",
    end_reason: `? ${values.oneOf(values.liveEnds)}`,
  },
  live_segments: { turn: uuid, text: segmentText, words: boundedWords, speaker: speakerNumber },
  webhooks: {
    id: uuid,
    url: "((lower(?) GLOB 'http://*' OR lower(?) GLOB 'https://*') AND length(?) <= 2048)",
    events: json("array", `type = 'text' AND value ${values.oneOf(values.recordingEvents)}`),
    secret: webhookSecret,
    former_secret: webhookSecret,
    pause_reason: `? ${values.oneOf(values.pauseReasons)}`,
  },
  // A restore deletes the deliveries.
  webhook_deliveries: { id: uuid, recording_id: uuid },
  console_password: { hash: passwordHash },
  users: {
    id: uuid,
    password_hash: passwordHash,
    role: `? ${values.oneOf(values.roles)}`,
    all_accounts: flag,
    name: "length(?) BETWEEN 1 AND 200",
    email: "length(?) BETWEEN 1 AND 320",
  },
};

/**
 * Requires that a backup's database holds only values that this program could have written: a backup may come from
 * anybody. The caller has already checked that the tables are ours; those of an early version lack some columns. NULL
 * is valid in any column that allows it.
 * @throws {BackupError} when a value is invalid, with its column, or when a row refers to a missing row
 */
function requireOwnValues(database: Database): void {
  const columns = database.query<{ table: string; name: string }, []>(
    `SELECT tables.name AS "table", columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
      WHERE tables.type = 'table' AND tables.rootpage > 0`,
  );
  for (const { table, name } of columns.all()) {
    const rule = rules[table]?.[name] ?? (timeName.test(name) ? time : null);
    if (rule === null) continue;
    const isValid = rule.replaceAll("?", `"${name}"`);
    // GLOB and length() stop at a NUL character inside a text; instr() does not. A blob may hold zeros.
    const hasNoNul = `(typeof("${name}") = 'blob' OR instr("${name}", char(0)) = 0)`;
    const isInvalid = `"${name}" IS NOT NULL AND NOT coalesce((${isValid}) AND ${hasNoNul}, 0)`;
    if (database.query(`SELECT 1 FROM ${table} WHERE ${isInvalid} LIMIT 1`).get() === null) continue;
    throw new BackupError(`the backup has a ${table}.${name} that transcribe does not write: it was changed by others`);
  }
  if (database.query("PRAGMA foreign_key_check").get() !== null) {
    throw new BackupError("the backup has rows that belong to no account or recording: it was changed by others");
  }
}
