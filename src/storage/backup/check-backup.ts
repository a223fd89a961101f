import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { messageOf } from "../../text/index.ts";
import { databaseState, MigrationError, migrate, migrationsUpTo, pendingMigrations } from "../migrate.ts";
import {
  scopes as allScopes,
  correctionActions,
  doubts,
  fileFaults,
  fileStates,
  hindrances,
  oneOf,
  roles,
} from "../stored-values.ts";
import { BackupError } from "./copy-database.ts";

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

/** A column of a backup's database with an SQL condition for its values. */
interface ColumnRule {
  readonly column: `${string}.${string}`;
  /** SQL expression that is true for a valid value; `?` stands for the column. */
  readonly rule: string;
}

const hexDigits = (count: number) => "[0-9a-f]".repeat(count);
const uuid = `? GLOB '${[8, 4, 4, 4, 12].map(hexDigits).join("-")}'`;
const sha256 = `? GLOB '${hexDigits(64)}'`;
/** The same rule as modelIdSchema in models/: a path made of the id cannot lead elsewhere. */
const modelId = "(? GLOB '[a-z0-9]*' AND ? NOT GLOB '*[^a-z0-9._-]*' AND length(?) <= 80)";
const language = "(? GLOB '[a-z][a-z]' OR ? GLOB '[a-z][a-z][a-z]')";

/**
 * Returns an SQL condition for a JSON array or object whose elements fulfil another one, which may use `key`, `type` and
 * `value`. Readers trust stored JSON, so another shape would make every request fail that reads it.
 */
const json = (kind: "array" | "object", element: string) =>
  `CASE WHEN json_valid(?) THEN json_type(?) = '${kind}'
    AND NOT EXISTS (SELECT 1 FROM json_each(?) WHERE NOT coalesce(${element}, 0)) END`;

/** The same names as in AccountLimits in accounts/. */
const limits = json(
  "object",
  `type = 'integer' AND value >= 0 AND key ${oneOf([
    ...["audio_minutes_per_day", "recordings_per_account"],
    ...["creates_per_hour", "creates_per_day", "requests_per_minute"],
  ])}`,
);
/** At least one scope. */
const scopes = `(? GLOB '*"*' AND ${json("array", `type = 'text' AND value ${oneOf(allScopes)}`)})`;
/** The form that recordings/ writes, see StoredWord there: the fifth element, false, is not always present. */
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
const MAX_SEGMENT_CHARACTERS = 40_000;

/** The form that recordings/ writes, see CorrectedState there. */
const correctedState = `CASE WHEN json_valid(?) THEN json_type(?, '$.order') = 'array'
  AND json_type(?, '$.nextSpeaker') = 'integer' AND json_type(?, '$.nextSegment') = 'integer'
  AND json_type(?, '$.trimmed') = 'integer' AND coalesce(json_type(?, '$.firstSegment'), 'integer') = 'integer'
  AND NOT EXISTS (SELECT 1 FROM json_each(?, '$.order') WHERE type <> 'integer') END`;

/** The same rule as for names of machines in the messages of a fleet. */
const machineName = "(? NOT GLOB '*[^A-Za-z0-9_-]*' AND length(?) BETWEEN 1 AND 100)";

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

/**
 * Maximum length of a stored vocabulary in characters, which is passed to native code. The server itself accepts only
 * much shorter ones.
 */
const MAX_VOCABULARY_CHARACTERS = 20_000;

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
const times: readonly ColumnRule["column"][] = [
  "accounts.created_at",
  "accounts.subscribed_until",
  "workspaces.created_at",
  "api_keys.created_at",
  "api_keys.expires_at",
  "api_keys.revoked_at",
  "api_keys.last_used_at",
  "recordings.held_at",
  "recordings.created_at",
  "recordings.updated_at",
  "recordings.deleted_at",
  "recordings.ended_at",
  "revisions.at",
  "audit_log.at",
  "chosen_models.chosen_at",
  "console_password.set_at",
  "folders.created_at",
  "folders.hindered_since",
  "folders.seen_at",
  "folder_files.created_at",
  "folder_files.retry_at",
  "users.created_at",
  "users.last_sign_in_at",
  "users.disabled_at",
  "voices.created_at",
];

/** SQL condition for an absolute path that names no parent directory. */
const absolutePath = "(? GLOB '/*' AND ? NOT GLOB '*/../*' AND ? NOT GLOB '*/..' AND length(?) <= 4096)";
/** SQL condition for the name of a file: a path made of it cannot lead elsewhere. */
const fileName = "(? NOT GLOB '*/*' AND ? NOT IN ('', '.', '..') AND length(?) <= 255)";
/** SQL condition for a JSON array of export formats, which become the extensions of files. */
const formats = json("array", "type = 'text' AND value NOT GLOB '*[^a-z]*' AND length(value) BETWEEN 1 AND 16");

/** SQL condition for a JSON array of files that seem to be incomplete. */
const incompleteFiles = json(
  "array",
  `type = 'object' AND json_type(value, '$.name') = 'text' AND json_extract(value, '$.doubt') ${oneOf(doubts)}`,
);

/**
 * Rules for values that become a path, a fetched link, an argument of native code or a date, or that are parsed. All
 * other values are numbers, whose type the tables enforce, and texts that are only compared or shown.
 */
const rules: readonly ColumnRule[] = [
  { column: "accounts.id", rule: uuid },
  { column: "workspaces.id", rule: uuid },
  { column: "api_keys.id", rule: uuid },
  { column: "recordings.id", rule: uuid },
  { column: "recordings.rerun_of", rule: rerun },
  { column: "kept_answers.recording_id", rule: uuid },
  { column: "audio_usage.recording_id", rule: uuid },
  { column: "chosen_models.kind", rule: "? = 'speech'" },
  { column: "chosen_models.model", rule: modelId },
  { column: "recordings.speech_model", rule: speechModel },
  { column: "recordings.speech_model_sha256", rule: sha256 },
  { column: "recordings.language", rule: language },
  { column: "recordings.pinned_language", rule: language },
  {
    column: "recordings.source_url",
    rule: "((lower(?) GLOB 'http://*' OR lower(?) GLOB 'https://*') AND length(?) <= 32768)",
  },
  { column: "recordings.vocabulary", rule: `length(?) <= ${MAX_VOCABULARY_CHARACTERS}` },
  { column: "recordings.prompt", rule: `length(?) <= ${MAX_VOCABULARY_CHARACTERS}` },
  { column: "recordings.audio_track", rule: partCount },
  { column: "recordings.audio_tracks", rule: partCount },
  { column: "recordings.min_speakers", rule: speakerCount },
  { column: "recordings.max_speakers", rule: speakerCount },
  { column: "accounts.vocabulary", rule: `length(?) <= ${MAX_VOCABULARY_CHARACTERS}` },
  { column: "accounts.limits", rule: limits },
  { column: "api_keys.scopes", rule: scopes },
  { column: "segments.text", rule: `length(?) <= ${MAX_SEGMENT_CHARACTERS}` },
  { column: "segments.words", rule: boundedWords },
  { column: "corrected_segments.text", rule: `length(?) <= ${MAX_SEGMENT_CHARACTERS}` },
  { column: "corrected_segments.words", rule: boundedWords },
  { column: "recordings.corrected_state", rule: correctedState },
  { column: "revisions.action", rule: `? ${oneOf(correctionActions)}` },
  // Whoever reads changes checks them by their schema.
  { column: "revisions.changes", rule: "json_valid(?)" },
  { column: "recording_machines.machine", rule: machineName },
  { column: "recording_machines.parts", rule: partCount },
  { column: "recording_models.model", rule: speechModel },
  { column: "recording_models.parts", rule: partCount },
  { column: "voices.id", rule: uuid },
  { column: "voices.name", rule: `length(?) BETWEEN 1 AND ${MAX_NAME_CHARACTERS}` },
  { column: "voices.model", rule: sha256 },
  { column: "speaker_voices.model", rule: sha256 },
  { column: "speaker_voices.speaker", rule: speakerNumber },
  { column: "speaker_voices.seconds", rule: speechSeconds },
  { column: "speaker_voices.embedding", rule: embedding },
  { column: "voice_examples.speaker", rule: speakerNumber },
  { column: "voice_examples.seconds", rule: speechSeconds },
  { column: "voice_examples.embedding", rule: embedding },
  { column: "audit_log.details", rule: "json_valid(?)" },
  { column: "folders.id", rule: uuid },
  { column: "folders.path", rule: absolutePath },
  { column: "folders.target", rule: absolutePath },
  { column: "folders.formats", rule: formats },
  { column: "folders.language", rule: language },
  { column: "folders.incomplete", rule: incompleteFiles },
  { column: "folders.hindrance", rule: `? ${oneOf(hindrances)}` },
  { column: "folder_files.id", rule: uuid },
  { column: "folder_files.name", rule: fileName },
  { column: "folder_files.state", rule: `? ${oneOf(fileStates)}` },
  { column: "folder_files.reason", rule: `? ${oneOf(fileFaults)}` },
  { column: "folder_files.modified", rule: "(? NOT GLOB '*[^0-9-]*' AND length(?) <= 24)" },
  { column: "folder_files.sha256", rule: sha256 },
  ...times.map((column) => ({ column, rule: time })),
  { column: "console_password.hash", rule: passwordHash },
  { column: "users.id", rule: uuid },
  { column: "users.password_hash", rule: passwordHash },
  { column: "users.role", rule: `? ${oneOf(roles)}` },
  { column: "users.all_accounts", rule: "? IN (0, 1)" },
  { column: "users.name", rule: "length(?) BETWEEN 1 AND 200" },
  { column: "users.email", rule: "length(?) BETWEEN 1 AND 320" },
];

/**
 * Requires that a backup's database holds only values that this program could have written: a backup may come from
 * anybody. The caller has already checked that the tables are ours. NULL is valid in any column that allows it.
 * @throws {BackupError} when a value is invalid, with its column, or when a row refers to a missing row
 */
function requireOwnValues(database: Database): void {
  for (const { column, rule } of rules) {
    const [table = "", name = ""] = column.split(".");
    if (!hasColumn(database, table, name)) continue;
    const isValid = rule.replaceAll("?", `"${name}"`);
    // GLOB and length() stop at a NUL character inside a text; instr() does not. A blob may hold zeros.
    const hasNoNul = `(typeof("${name}") = 'blob' OR instr("${name}", char(0)) = 0)`;
    const isInvalid = `"${name}" IS NOT NULL AND NOT coalesce((${isValid}) AND ${hasNoNul}, 0)`;
    if (database.query(`SELECT 1 FROM ${table} WHERE ${isInvalid} LIMIT 1`).get() === null) continue;
    throw new BackupError(`the backup has a ${column} that transcribe does not write: it was changed by others`);
  }
  if (database.query("PRAGMA foreign_key_check").get() !== null) {
    throw new BackupError("the backup has rows that belong to no account or recording: it was changed by others");
  }
}

/** Returns whether a column exists: a backup of an early version lacks some. */
function hasColumn(database: Database, table: string, column: string): boolean {
  return database.query("SELECT 1 FROM pragma_table_info(?) WHERE name = ?").get(table, column) !== null;
}
