import type { Database } from "bun:sqlite";
import { BackupError } from "./copy-database.ts";

/** A column of a backup's database, and SQL for what a value in it has to be. */
interface ColumnRule {
  readonly column: `${string}.${string}`;
  /** True for a good value; `?` stands for the column. */
  readonly rule: string;
}

const hexDigits = (count: number) => "[0-9a-f]".repeat(count);
const uuid = `? GLOB '${[8, 4, 4, 4, 12].map(hexDigits).join("-")}'`;
/** As modelIdSchema of models/ has it: no path can be made of it that leads elsewhere. */
const modelId = "(? GLOB '[a-z0-9]*' AND ? NOT GLOB '*[^a-z0-9._-]*' AND length(?) <= 80)";
const language = "(? GLOB '[a-z][a-z]' OR ? GLOB '[a-z][a-z][a-z]')";
const json = (kind: "array" | "object") => `CASE WHEN json_valid(?) THEN json_type(?) = '${kind}' END`;

/**
 * Longest vocabulary that is stored, in characters, which is far more than one that the server takes: it is handed to native
 * code.
 */
const MAX_VOCABULARY_CHARACTERS = 20_000;

/** The milliseconds that a date can have (ECMAScript's time range): others would fail every answer that shows them. */
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
  "audit_log.at",
  "chosen_models.chosen_at",
  "console_password.set_at",
];

/**
 * What becomes a path, a link that is fetched, an argument of native code or a date, or is parsed. All else of a backup's
 * values is numbers, whose type the tables keep, and texts that are compared or shown.
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
  { column: "recordings.speech_model", rule: `(${modelId} OR ? GLOB '/*')` },
  { column: "recordings.speech_model_sha256", rule: `? GLOB '${hexDigits(64)}'` },
  { column: "recordings.language", rule: language },
  { column: "recordings.pinned_language", rule: language },
  {
    column: "recordings.source_url",
    rule: "((lower(?) GLOB 'http://*' OR lower(?) GLOB 'https://*') AND length(?) <= 32768)",
  },
  { column: "recordings.vocabulary", rule: `length(?) <= ${MAX_VOCABULARY_CHARACTERS}` },
  { column: "accounts.vocabulary", rule: `length(?) <= ${MAX_VOCABULARY_CHARACTERS}` },
  { column: "accounts.limits", rule: json("object") },
  { column: "api_keys.scopes", rule: json("array") },
  { column: "segments.words", rule: json("array") },
  { column: "audit_log.details", rule: "json_valid(?)" },
  ...times.map((column) => ({ column, rule: time })),
  // Other costs of argon2id could keep the server's memory and processor busy with one attempt to sign in.
  { column: "console_password.hash", rule: "(? GLOB '$argon2id$v=19$m=65536,t=2,p=1$*' AND length(?) <= 200)" },
];

/**
 * Requires that the values of a backup's database are such as this program writes: a backup may come from anybody. The
 * tables are known to be ours. A column that may be empty may be so here, too.
 * @throws {BackupError} that names the column
 */
export function requireOwnValues(database: Database): void {
  for (const { column, rule } of rules) {
    const [table = "", name = ""] = column.split(".");
    if (!hasColumn(database, table, name)) continue;
    const isGood = rule.replaceAll("?", `"${name}"`);
    // GLOB and length() end at a NUL, which a text may have in it; instr() does not.
    const isBad = `"${name}" IS NOT NULL AND NOT coalesce((${isGood}) AND instr("${name}", char(0)) = 0, 0)`;
    if (database.query(`SELECT 1 FROM ${table} WHERE ${isBad} LIMIT 1`).get() === null) continue;
    throw new BackupError(`the backup has a ${column} that transcribe does not write: it was changed by others`);
  }
  if (database.query("PRAGMA foreign_key_check").get() !== null) {
    throw new BackupError("the backup has rows that belong to no account or recording: it was changed by others");
  }
}

/** A backup of an early version lacks some. */
function hasColumn(database: Database, table: string, column: string): boolean {
  return database.query("SELECT 1 FROM pragma_table_info(?) WHERE name = ?").get(table, column) !== null;
}
