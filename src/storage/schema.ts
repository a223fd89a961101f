import { eq, isNotNull } from "drizzle-orm";
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { failureReasons, standings, statuses, steps } from "./stored-values.ts";

// Times are milliseconds since the epoch; ids are UUID v7, so that they sort by creation.
//
// A new table or column also needs a migration, which migrate.ts lists. If its value becomes a path, a link or a time,
// or is parsed, it needs a rule in backup/check-backup.ts as well.

export const accounts = sqliteTable(
  "accounts",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    standing: text({ enum: standings }).notNull(),
    /** End of the subscription; null when it never ends. */
    subscribedUntil: integer(),
    /** Recordings of accounts with a higher number are processed first. */
    priority: integer().notNull(),
    /** JSON: limits of this account that replace those of the settings. */
    limits: text().notNull(),
    /** Names and terms to expect in its recordings; null for none. */
    vocabulary: text(),
    createdAt: integer().notNull(),
  },
  (table) => [uniqueIndex("accounts_name").on(table.name)],
);

/** Returns a column that refers to the row's account; the row is deleted with the account. */
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
    /** The workspace to which the key is pinned; null for none. */
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
    /** Id of the key that replaces this one after a rotation; this key expires when the overlap ends. */
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
    status: text({ enum: statuses }).notNull(),
    /** Language that the client pinned, ISO 639; null for language detection. */
    pinnedLanguage: text(),
    /** Pinned or detected, ISO 639. */
    language: text(),
    /** Name of the uploaded file without its extension. */
    sourceName: text(),
    /** The link that was sent, without its fragment; null for an upload. */
    sourceUrl: text(),
    /** Size of the recording in bytes; null until a link was fetched. */
    sizeBytes: integer(),
    durationSeconds: real(),
    step: text({ enum: steps }),
    percent: integer(),
    failureReason: text({ enum: failureReasons }),
    /** The actual cause behind `internal`, for the operator only. */
    failureCause: text(),
    /** Start of an operator's hold, which prevents deletion. */
    heldAt: integer(),
    /** Speech model of the recording: an id or an absolute path; null for a recording from an earlier version. */
    speechModel: text(),
    /** SHA-256 of that model's file; null until its first use. */
    speechModelSha256: text(),
    /** Vocabulary of the account at creation, which is used for the whole transcription. */
    vocabulary: text(),
    /** Names and terms of this recording, which are used together with the vocabulary; null for none. */
    prompt: text(),
    /** Bounds of the number of its speakers, which are equal if the number is given exactly; null for none. */
    minSpeakers: integer(),
    maxSpeakers: integer(),
    /** Whether a client waits for the transcript, after which nothing of the recording is kept. Lists leave it out. */
    isTransient: integer({ mode: "boolean" }).notNull().default(false),
    /** Start of its removal; nobody sees the recording from then on. */
    deletedAt: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    /** End of its processing, from which retention counts; null while it is queued or processing. */
    endedAt: integer(),
  },
  (table) => [
    index("recordings_account_id").on(table.accountId, table.id),
    index("recordings_account_status").on(table.accountId, table.status, table.id),
    index("recordings_status").on(table.status, table.id),
    index("recordings_workspace").on(table.workspaceId, table.status, table.id).where(isNotNull(table.workspaceId)),
    index("recordings_transient").on(table.isTransient).where(eq(table.isTransient, true)),
    index("recordings_deleted").on(table.deletedAt).where(isNotNull(table.deletedAt)),
  ],
);

/** The first response to a create that carried an Idempotency-Key. */
export const storedAnswers = sqliteTable(
  "kept_answers",
  {
    accountId: accountReference(),
    /** Workspace of the API key; empty for none. */
    workspaceId: text().notNull(),
    key: text().notNull(),
    /** SHA-256 of the request body's content. */
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

/** Times at which an account created recordings, for its hourly and daily limits; rows older than a day are deleted. */
export const creates = sqliteTable(
  "creates",
  { accountId: accountReference(), createdAt: integer().notNull() },
  (table) => [
    index("creates_account").on(table.accountId, table.createdAt),
    index("creates_created").on(table.createdAt),
  ],
);

/** Audio that an account was charged for, by UTC day. */
export const audioUsage = sqliteTable(
  "audio_usage",
  { accountId: accountReference(), day: text().notNull(), recordingId: text().notNull(), seconds: real().notNull() },
  (table) => [
    primaryKey({ columns: [table.accountId, table.day, table.recordingId] }),
    index("audio_usage_recording").on(table.recordingId),
  ],
);

/** Changes made by commands, with the user and the time. */
export const auditLog = sqliteTable("audit_log", {
  id: integer().primaryKey(),
  at: integer().notNull(),
  /** User of the operating system. */
  actor: text().notNull(),
  /** e.g. `keys.revoke` */
  action: text().notNull(),
  /** Id of the changed object. */
  subject: text().notNull(),
  /** JSON; never a secret. */
  details: text().notNull(),
});

/** Model for new recordings, by kind; the built-in one when there is no row. */
export const chosenModels = sqliteTable("chosen_models", {
  kind: text({ enum: ["speech"] }).primaryKey(),
  /** Id of the model. */
  model: text().notNull(),
  chosenAt: integer().notNull(),
});

const recordingReference = () =>
  text()
    .notNull()
    .references(() => recordings.id, { onDelete: "cascade" });

/** Completed parts of a step, from which a restart resumes. Deleted when the recording is terminal. */
export const checkpoints = sqliteTable(
  "checkpoints",
  {
    recordingId: recordingReference(),
    step: text().notNull(),
    /** Zero-based index of a part of the step, e.g. a block or a chunk. */
    part: integer().notNull(),
    /** JSON in the step's own schema. */
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
    /** Zero-based, in order of first appearance; shown to clients as A, B, … */
    speaker: integer().notNull(),
    text: text().notNull(),
    /** JSON array of words, see StoredWord in recordings/segments.ts. */
    words: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recordingId, table.index] })],
);

/** Number of parts of a recording that each machine of a fleet computed; a server that works alone stores none. */
export const recordingMachines = sqliteTable(
  "recording_machines",
  { recordingId: recordingReference(), machine: text().notNull(), parts: integer().notNull() },
  (table) => [primaryKey({ columns: [table.recordingId, table.machine] })],
);

/**
 * Number of parts of a recording that each speech model recognized. A part is a chunk, or the part of a chunk in one
 * language.
 */
export const recordingModels = sqliteTable(
  "recording_models",
  {
    recordingId: recordingReference(),
    /** An id or an absolute path, as in `recordings.speech_model`. */
    model: text().notNull(),
    parts: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recordingId, table.model] })],
);

/** Unused sign-in links of the console. */
export const consoleLinks = sqliteTable("console_links", {
  /** SHA-256 of the link's token, hex. */
  hash: text().primaryKey(),
  /** User of the operating system who made the link. */
  actor: text().notNull(),
  expiresAt: integer().notNull(),
});

export const consoleSessions = sqliteTable("console_sessions", {
  /** SHA-256 of the cookie's value, hex. */
  hash: text().primaryKey(),
  /** Person who signed in: the user who made the link; no personal name after a password. */
  actor: text().notNull(),
  enteredBy: text({ enum: ["link", "password"] }).notNull(),
  enteredAt: integer().notNull(),
  /** Time of last use, accurate to a minute. */
  seenAt: integer().notNull(),
});

/** The operator's password for the console: one row, or none. */
export const consolePassword = sqliteTable("console_password", {
  id: integer().primaryKey(),
  /** argon2id hash in its standard encoded form. */
  hash: text().notNull(),
  setAt: integer().notNull(),
});

/** Ends of recordings that are not delivered to the parts of the server yet. */
export const outbox = sqliteTable("outbox", {
  position: integer().primaryKey({ autoIncrement: true }),
  /** No reference: the recording may be removed before. */
  recordingId: text().notNull(),
  outcome: text({ enum: ["completed", "failed", "cancelled"] }).notNull(),
  at: integer().notNull(),
});

/** Names that replace speaker labels in exports made in the console. */
export const speakerNames = sqliteTable(
  "speaker_names",
  { recordingId: recordingReference(), speaker: integer().notNull(), name: text().notNull() },
  (table) => [primaryKey({ columns: [table.recordingId, table.speaker] })],
);

/** Received and finished work by UTC day; the rows stay when recordings are deleted. */
export const dailyWork = sqliteTable("daily_work", {
  day: text().primaryKey(),
  receivedSeconds: real().notNull().default(0),
  completedSeconds: real().notNull().default(0),
  completed: integer().notNull().default(0),
  failed: integer().notNull().default(0),
});

/** Recordings whose texts are in the full-text table `searchable_texts`, which is accessed only through SQL. */
export const searchableRecordings = sqliteTable(
  "searchable_recordings",
  {
    /** Sorts by creation; row ids of a recording in `searchable_texts` are number << 21 | index. */
    number: integer().primaryKey(),
    recordingId: recordingReference(),
    /** Whether all texts are indexed: those of recordings of several days are indexed in batches. */
    isWhole: integer({ mode: "boolean" }).notNull(),
  },
  (table) => [uniqueIndex("searchable_recordings_recording").on(table.recordingId)],
);
