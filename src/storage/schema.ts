import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** Times are milliseconds since the epoch; ids are UUID v7, so that they sort by creation. */

export const accounts = sqliteTable(
  "accounts",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [uniqueIndex("accounts_name").on(table.name)],
);

export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    accountId: text()
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    name: text().notNull(),
    /** First characters of the key, for people to recognise it by. */
    hint: text().notNull(),
    /** SHA-256 of the whole key, hex. */
    hash: text().notNull(),
    createdAt: integer().notNull(),
    revokedAt: integer(),
  },
  (table) => [uniqueIndex("api_keys_hash").on(table.hash), index("api_keys_account").on(table.accountId)],
);

export const recordings = sqliteTable(
  "recordings",
  {
    id: text().primaryKey(),
    accountId: text()
      .notNull()
      .references(() => accounts.id, { onDelete: "cascade" }),
    status: text({ enum: ["queued", "processing", "completed", "failed"] }).notNull(),
    /** What the client pinned, ISO 639; null lets the speech decide. */
    pinnedLanguage: text(),
    /** Pinned or detected, ISO 639. */
    language: text(),
    /** Name of the uploaded file without its extension. */
    sourceName: text(),
    sizeBytes: integer().notNull(),
    durationSeconds: real(),
    step: text({ enum: ["fetch", "decode", "detect", "transcribe", "diarize", "finalize"] }),
    percent: integer(),
    failureReason: text({ enum: ["no_speech", "too_short", "quota_exceeded", "internal"] }),
    /** The true cause behind `internal`, for the operator alone. */
    failureCause: text(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  (table) => [
    index("recordings_account_status").on(table.accountId, table.status),
    index("recordings_status").on(table.status, table.id),
  ],
);

/** What a step has finished of a recording, so that a restart goes on from there. Gone when the record is terminal. */
export const checkpoints = sqliteTable(
  "checkpoints",
  {
    recordingId: text()
      .notNull()
      .references(() => recordings.id, { onDelete: "cascade" }),
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
    recordingId: text()
      .notNull()
      .references(() => recordings.id, { onDelete: "cascade" }),
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
