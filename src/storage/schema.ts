import { isNotNull } from "drizzle-orm";
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** Times are milliseconds since the epoch; ids are UUID v7, so that they sort by creation. */

export const accounts = sqliteTable(
  "accounts",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    standing: text({ enum: ["active", "guest", "restricted"] }).notNull(),
    /** When the subscription ends; null: it never does. */
    subscribedUntil: integer(),
    /** Recordings of an account with a higher number go first. */
    priority: integer().notNull(),
    /** JSON: what this account may have in place of the settings' limits. */
    limits: text().notNull(),
    /** Names and terms to expect in its recordings; null: none. */
    vocabulary: text(),
    createdAt: integer().notNull(),
  },
  (table) => [uniqueIndex("accounts_name").on(table.name)],
);

/** Column that ties a row to its account and takes it along when that is deleted. */
const accountReference = () =>
  text()
    .notNull()
    .references(() => accounts.id, { onDelete: "cascade" });

export const workspaces = sqliteTable(
  "workspaces",
  {
    id: text().primaryKey(),
    accountId: accountReference(),
    name: text().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [uniqueIndex("workspaces_name").on(table.accountId, table.name)],
);

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    accountId: accountReference(),
    /** The workspace the key is pinned to; null: none. */
    workspaceId: text().references(() => workspaces.id),
    name: text().notNull(),
    /** First characters of the key, for people to recognise it by. */
    hint: text().notNull(),
    /** SHA-256 of the whole key, hex. */
    hash: text().notNull(),
    /** JSON array of scopes. */
    scopes: text().notNull(),
    createdAt: integer().notNull(),
    expiresAt: integer(),
    revokedAt: integer(),
    lastUsedAt: integer(),
    /** The key that it was rotated into; it ends when the overlap does. */
    replacedBy: text(),
  },
  (table) => [
    uniqueIndex("api_keys_hash").on(table.hash),
    index("api_keys_account").on(table.accountId),
    index("api_keys_workspace").on(table.workspaceId).where(isNotNull(table.workspaceId)),
  ],
);

export const recordings = sqliteTable(
  "recordings",
  {
    id: text().primaryKey(),
    accountId: accountReference(),
    workspaceId: text().references(() => workspaces.id),
    status: text({ enum: ["queued", "processing", "completed", "failed"] }).notNull(),
    /** What the client pinned, ISO 639; null lets the speech decide. */
    pinnedLanguage: text(),
    /** Pinned or detected, ISO 639. */
    language: text(),
    /** Name of the uploaded file without its extension. */
    sourceName: text(),
    /** The link that was sent, without its fragment; null for an upload. */
    sourceUrl: text(),
    /** Bytes of the upload; null until a link was fetched. */
    sizeBytes: integer(),
    durationSeconds: real(),
    step: text({ enum: ["fetch", "decode", "detect", "transcribe", "diarize", "finalize"] }),
    percent: integer(),
    failureReason: text({ enum: ["no_speech", "too_short", "quota_exceeded", "internal"] }),
    /** The true cause behind `internal`, for the operator alone. */
    failureCause: text(),
    /** Since when an operator keeps it from being deleted. */
    heldAt: integer(),
    /** The speech model that it was created for: an id, or an absolute path. Null: entered by an earlier version. */
    speechModel: text(),
    /** Digest of that model's file; null until it is first used. */
    speechModelSha256: text(),
    /** The account's vocabulary when it was created; all of it is transcribed with that. */
    vocabulary: text(),
    /** Since when it is being removed; nobody sees it then. */
    deletedAt: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    index("recordings_account_id").on(table.accountId, table.id),
    index("recordings_account_status").on(table.accountId, table.status, table.id),
    index("recordings_status").on(table.status, table.id),
    index("recordings_workspace").on(table.workspaceId, table.status, table.id).where(isNotNull(table.workspaceId)),
    index("recordings_deleted").on(table.deletedAt).where(isNotNull(table.deletedAt)),
  ],
);

/** The first answer to a create that carried an Idempotency-Key. */
export const keptAnswers = sqliteTable(
  "kept_answers",
  {
    accountId: accountReference(),
    /** Of the API key; empty for none. */
    workspaceId: text().notNull(),
    key: text().notNull(),
    /** SHA-256 over what the body held. */
    fingerprint: text().notNull(),
    status: integer().notNull(),
    /** Emptied when the recording was deleted. */
    body: text(),
    recordingId: text(),
    createdAt: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.workspaceId, table.key] }),
    index("kept_answers_created").on(table.createdAt),
    index("kept_answers_recording").on(table.recordingId),
  ],
);

/** When an account's recordings were created, for its allowance per hour and day; rows older than a day are gone. */
export const creates = sqliteTable(
  "creates",
  { accountId: accountReference(), createdAt: integer().notNull() },
  (table) => [
    index("creates_account").on(table.accountId, table.createdAt),
    index("creates_created").on(table.createdAt),
  ],
);

/** Audio an account was charged for, by UTC day. */
export const audioUsage = sqliteTable(
  "audio_usage",
  { accountId: accountReference(), day: text().notNull(), recordingId: text().notNull(), seconds: real().notNull() },
  (table) => [
    primaryKey({ columns: [table.accountId, table.day, table.recordingId] }),
    index("audio_usage_recording").on(table.recordingId),
  ],
);

/** What was changed by command, by whom and when. */
export const auditLog = sqliteTable("audit_log", {
  id: integer().primaryKey(),
  at: integer().notNull(),
  /** User of the operating system. */
  actor: text().notNull(),
  /** e.g. `keys.revoke` */
  action: text().notNull(),
  /** Id of what was changed. */
  subject: text().notNull(),
  /** JSON; never a secret. */
  details: text().notNull(),
});

/** Which model new recordings get, by kind; none: the built-in one. */
export const chosenModels = sqliteTable("chosen_models", {
  kind: text({ enum: ["speech"] }).primaryKey(),
  /** Its id. */
  model: text().notNull(),
  chosenAt: integer().notNull(),
});

const recordingReference = () =>
  text()
    .notNull()
    .references(() => recordings.id, { onDelete: "cascade" });

/** What a step has finished of a recording, so that a restart goes on from there. Gone when the record is terminal. */
export const checkpoints = sqliteTable(
  "checkpoints",
  {
    recordingId: recordingReference(),
    step: text().notNull(),
    /** Zero-based part of the step: a block, a chunk. */
    part: integer().notNull(),
    /** JSON, by the step's own schema. */
    payload: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recordingId, table.step, table.part] })],
);

export const segments = sqliteTable(
  "segments",
  {
    recordingId: recordingReference(),
    index: integer().notNull(),
    startMilliseconds: integer().notNull(),
    endMilliseconds: integer().notNull(),
    /** Zero-based in order of first appearance; A, B, … outside. */
    speaker: integer().notNull(),
    text: text().notNull(),
    /** JSON array of [text, startMilliseconds, endMilliseconds, probability]. */
    words: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recordingId, table.index] })],
);

/** Links into the console that were not used yet. */
export const consoleLinks = sqliteTable("console_links", {
  /** SHA-256 of its token, hex. */
  hash: text().primaryKey(),
  /** User of the operating system who made it. */
  actor: text().notNull(),
  expiresAt: integer().notNull(),
});

export const consoleSessions = sqliteTable("console_sessions", {
  /** SHA-256 of the cookie's value, hex. */
  hash: text().primaryKey(),
  /** Who entered: the user who made the link, or nobody by name where it was the password. */
  actor: text().notNull(),
  enteredBy: text({ enum: ["link", "password"] }).notNull(),
  enteredAt: integer().notNull(),
  /** When it was last used, to within a minute. */
  seenAt: integer().notNull(),
});

/** The operator's password for the console: one row, or none. */
export const consolePassword = sqliteTable("console_password", {
  id: integer().primaryKey(),
  /** argon2id, in the form of its own. */
  hash: text().notNull(),
  setAt: integer().notNull(),
});

/** What speakers were renamed to, for exports made in the console. */
export const speakerNames = sqliteTable(
  "speaker_names",
  { recordingId: recordingReference(), speaker: integer().notNull(), name: text().notNull() },
  (table) => [primaryKey({ columns: [table.recordingId, table.speaker] })],
);

/** What came in and what was done, by UTC day; it stays when recordings are deleted. */
export const dailyWork = sqliteTable("daily_work", {
  day: text().primaryKey(),
  receivedSeconds: real().notNull().default(0),
  completedSeconds: real().notNull().default(0),
  completed: integer().notNull().default(0),
  failed: integer().notNull().default(0),
});

/** Recordings whose texts are in the full-text table `searchable_texts`, which only SQL speaks of. */
export const searchableRecordings = sqliteTable(
  "searchable_recordings",
  {
    /** Sorts by creation; the table's rows of a recording are number << 21 | index. */
    number: integer().primaryKey(),
    recordingId: recordingReference(),
    /** Whether all of it is in: the texts of days are taken in some at a time. */
    isWhole: integer({ mode: "boolean" }).notNull(),
  },
  (table) => [uniqueIndex("searchable_recordings_recording").on(table.recordingId)],
);
