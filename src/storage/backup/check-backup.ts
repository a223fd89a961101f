import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { messageOf } from "../../text/index.ts";
import { databaseState, MigrationError, migrate, migrationsUpTo, pendingMigrations } from "../migrate.ts";
import { scopes as allScopes, oneOf } from "../stored-values.ts";
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

/** The same rule as for names of machines in the messages of a fleet. */
const machineName = "(? NOT GLOB '*[^A-Za-z0-9_-]*' AND length(?) BETWEEN 1 AND 100)";

/** SQL condition for a speech model: an id, or the path of a file that the settings named. */
const speechModel = `(${modelId} OR ? GLOB '/*')`;

/** SQL condition for a number of parts of a recording. */
const partCount = "? BETWEEN 1 AND 1000000000";

/**
 * Maximum length of a stored vocabulary in characters, which is passed to native code. The server itself accepts only
 * much shorter ones.
 */
const MAX_VOCABULARY_CHARACTERS = 20_000;

/** SQL condition for a bound of the number of speakers, which is passed to the clustering of voices. */
const speakerCount = "? BETWEEN 1 AND 50";

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
  "audit_log.at",
  "chosen_models.chosen_at",
  "console_password.set_at",
];

/**
 * Rules for values that become a path, a fetched link, an argument of native code or a date, or that are parsed. All
 * other values are numbers, whose type the tables enforce, and texts that are only compared or shown.
 */
const rules: readonly ColumnRule[] = [
  { column: "accounts.id", rule: uuid },
  { column: "workspaces.id", rule: uuid },
  { column: "api_keys.id", rule: uuid },
  { column: "recordings.id", rule: uuid },
  { column: "kept_answers.recording_id", rule: uuid },
  { column: "audio_usage.recording_id", rule: uuid },
  { column: "chosen_models.kind", rule: "? = 'speech'" },
  { column: "chosen_models.model", rule: modelId },
  { column: "recordings.speech_model", rule: speechModel },
  { column: "recordings.speech_model_sha256", rule: `? GLOB '${hexDigits(64)}'` },
  { column: "recordings.language", rule: language },
  { column: "recordings.pinned_language", rule: language },
  {
    column: "recordings.source_url",
    rule: "((lower(?) GLOB 'http://*' OR lower(?) GLOB 'https://*') AND length(?) <= 32768)",
  },
  { column: "recordings.vocabulary", rule: `length(?) <= ${MAX_VOCABULARY_CHARACTERS}` },
  { column: "recordings.prompt", rule: `length(?) <= ${MAX_VOCABULARY_CHARACTERS}` },
  { column: "recordings.min_speakers", rule: speakerCount },
  { column: "recordings.max_speakers", rule: speakerCount },
  { column: "accounts.vocabulary", rule: `length(?) <= ${MAX_VOCABULARY_CHARACTERS}` },
  { column: "accounts.limits", rule: limits },
  { column: "api_keys.scopes", rule: scopes },
  { column: "segments.words", rule: words },
  { column: "recording_machines.machine", rule: machineName },
  { column: "recording_machines.parts", rule: partCount },
  { column: "recording_models.model", rule: speechModel },
  { column: "recording_models.parts", rule: partCount },
  { column: "audit_log.details", rule: "json_valid(?)" },
  ...times.map((column) => ({ column, rule: time })),
  // Other cost parameters of argon2id could keep the server's memory and processor busy with one sign-in attempt.
  { column: "console_password.hash", rule: "(? GLOB '$argon2id$v=19$m=65536,t=2,p=1$*' AND length(?) <= 200)" },
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
    // GLOB and length() stop at a NUL character inside a text; instr() does not.
    const isInvalid = `"${name}" IS NOT NULL AND NOT coalesce((${isValid}) AND instr("${name}", char(0)) = 0, 0)`;
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
