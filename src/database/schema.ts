import { type AnySQLiteColumn, blob, integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import {
  correctionActions,
  deliveryFaults,
  deliveryStates,
  failureReasons,
  fileFaults,
  fileStates,
  hindrances,
  liveEnds,
  pauseReasons,
  roles,
  standings,
  statuses,
  steps,
  webhookEvents,
} from "./stored-values.ts";

// Times are milliseconds since the epoch; ids are UUID v7, so that they sort by creation. The migrations alone have the
// indexes, whose use by all statements test/database/query-plans.integration.test.ts checks.
//
// A new table or column also needs a migration, which migrate.ts lists. If its value becomes a path, a link or a time,
// or is parsed, it needs a rule in backup/check-backup.ts as well.

export const accounts = sqliteTable("accounts", {
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
  /** Whether it remembers the voices of people, to propose their names in later recordings. */
  voices: integer({ mode: "boolean" }).notNull().default(false),
  /** Days of its own retention, as in the settings; null for those of the settings. */
  audioDays: integer(),
  completedDays: integer(),
  createdAt: integer().notNull(),
});

/** Returns a column that refers to the row's account; the row is deleted with the account. */
const accountReference = () =>
  text()
    .notNull()
    .references(() => accounts.id, { onDelete: "cascade" });

export const workspaces = sqliteTable("workspaces", {
  id: text().primaryKey(),
  accountId: accountReference(),
  name: text().notNull(),
  createdAt: integer().notNull(),
});

export const apiKeys = sqliteTable("api_keys", {
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
});

export const recordings = sqliteTable("recordings", {
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
  /** Size of the recording in bytes; null until a link was fetched, and for a rerun. */
  sizeBytes: integer(),
  durationSeconds: real(),
  /** The audio track of its file that is transcribed, from 1, and their number; null until it was decoded. */
  audioTrack: integer(),
  audioTracks: integer(),
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
  /** Whether its speech is translated to English as well. */
  isTranslated: integer({ mode: "boolean" }).notNull().default(false),
  /**
   * Whether nothing of the recording is kept after it has ended: a client waits for its transcript, or it is a rerun.
   * Lists leave it out.
   */
  isTransient: integer({ mode: "boolean" }).notNull().default(false),
  /** Start of its removal; nobody sees the recording from then on. */
  deletedAt: integer(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
  /** End of its processing, from which retention counts; null while it is queued or processing. */
  endedAt: integer(),
  /** Number of its latest revision; 0 if nobody has corrected its transcript. */
  revision: integer().notNull().default(0),
  /** JSON: facts about a corrected transcript, see CorrectedState in segments/corrected-state.ts. */
  correctedState: text(),
  /**
   * For a rerun: the recording that it processes again, whose audio it uses. A rerun is transient, too. Null for any
   * other recording, and for a rerun that is over.
   */
  rerunOf: text().references((): AnySQLiteColumn => recordings.id, { onDelete: "cascade" }),
  /** The person who started the rerun, as in the audit log. */
  rerunBy: text(),
});

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
  (table) => [primaryKey({ columns: [table.accountId, table.workspaceId, table.key] })],
);
/** The record of a recording. */
export type Recording = typeof recordings.$inferSelect;

/** Times at which an account created recordings, for its hourly and daily limits; rows older than a day are deleted. */
export const creates = sqliteTable("creates", { accountId: accountReference(), createdAt: integer().notNull() });

/** Audio that an account was charged for, by UTC day. */
export const audioUsage = sqliteTable(
  "audio_usage",
  { accountId: accountReference(), day: text().notNull(), recordingId: text().notNull(), seconds: real().notNull() },
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.recordingId] })],
);

/** People who sign in to the console; src/users/ explains the two kinds. */
export const users = sqliteTable("users", {
  id: text().primaryKey(),
  /** Issuer of the sign-in provider, and the user's id there; null for a user whom a command created. */
  issuer: text(),
  subject: text(),
  /** argon2id hash in its standard encoded form; null for a user of the provider. */
  passwordHash: text(),
  name: text().notNull(),
  /** In lower case for a user with a password, who signs in by it; null if the provider sends none. */
  email: text(),
  role: text({ enum: roles }).notNull(),
  /** Whether the user sees the recordings of all accounts, also of later ones, and not only of `userAccounts`. */
  allAccounts: integer({ mode: "boolean" }).notNull(),
  createdAt: integer().notNull(),
  lastSignInAt: integer(),
  /** Since when the user can't sign in. */
  disabledAt: integer(),
});

const userReference = () => text().references(() => users.id, { onDelete: "cascade" });

export const userAccounts = sqliteTable(
  "user_accounts",
  { userId: userReference().notNull(), accountId: accountReference() },
  (table) => [primaryKey({ columns: [table.userId, table.accountId] })],
);

/**
 * Changes made by commands and in the console, starts and ends of live sessions, and with `audit.reads` the reads of
 * transcripts, with their author and the time.
 */
export const auditLog = sqliteTable("audit_log", {
  id: integer().primaryKey(),
  at: integer().notNull(),
  /** User of the operating system, `password`, `user:ID` for a row of `users`, which may be deleted, or a key's id. */
  actor: text().notNull(),
  /** e.g. `keys.revoke` */
  action: text().notNull(),
  /** Id of the changed object. */
  subject: text().notNull(),
  /** JSON; never a secret. */
  details: text().notNull(),
});

/** How far the audit log has reached its syslog receiver: one row, or none before the first delivery. */
export const auditForwarding = sqliteTable("audit_forwarding", {
  id: integer().primaryKey(),
  /** Id of the last entry that the receiver has confirmed. */
  position: integer().notNull(),
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

/** Returns the columns that all kinds of segments have. */
const textColumns = () => ({
  recordingId: recordingReference(),
  index: integer().notNull(),
  startMilliseconds: integer().notNull(),
  endMilliseconds: integer().notNull(),
  /**
   * As recognized, zero-based in order of first appearance; a corrected one may have a higher number, of a new speaker.
   * Clients see the position in the order of first appearance as A, B, …
   */
  speaker: integer().notNull(),
  text: text().notNull(),
  /** JSON array of words, see StoredWord in segments/segments.ts. */
  words: text().notNull(),
});

/** Returns the columns of a segment, recognized or corrected. */
const segmentColumns = () => ({
  ...textColumns(),
  /** Whether the voice may be another speaker's; false once a person has set or confirmed the speaker. */
  isSpeakerUncertain: integer({ mode: "boolean" }).notNull().default(false),
});

export const segments = sqliteTable("segments", segmentColumns(), (table) => [
  primaryKey({ columns: [table.recordingId, table.index] }),
]);

/** The translations of recordings to English; `speaker` is the number of the speaker of the recognized segment. */
export const translatedSegments = sqliteTable("translated_segments", textColumns(), (table) => [
  primaryKey({ columns: [table.recordingId, table.index] }),
]);

/** The latest segments of a transcript that people have corrected; the recognized ones stay in `segments`. */
export const correctedSegments = sqliteTable(
  "corrected_segments",
  {
    ...segmentColumns(),
    /** The index of the recognized segment; a higher number for a new one. The search index refers to it. */
    id: integer().notNull(),
    /** Number of the revision that changed it last; 0 for none. */
    revision: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recordingId, table.id] })],
);

/** Corrections of transcripts. Each change of a transcript has a number; typing in one segment replaces its last row. */
export const revisions = sqliteTable(
  "revisions",
  {
    recordingId: recordingReference(),
    number: integer().notNull(),
    /** The person, as in the audit log. */
    author: text().notNull(),
    at: integer().notNull(),
    action: text({ enum: correctionActions }).notNull(),
    /** The page that sent it, and the number of the request there, so that a repeated request changes nothing. */
    editor: text().notNull(),
    sequence: integer().notNull(),
    /** Number of the revision that this one continues and replaces. */
    replaces: integer(),
    /** JSON: the place from which the page continues, see Place in transcripts/correction.ts; null at the end. */
    next: text(),
    /** Number of segments that it changed. */
    segments: integer().notNull(),
    /** Whether it changed speakers, and with them the letters that people see. */
    reorders: integer({ mode: "boolean" }).notNull(),
    /** JSON array, see Change in transcripts/changes.ts. */
    changes: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.recordingId, table.number] })],
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
  /** Person who signed in: the user who made the link, `password`, or `user:ID`. */
  actor: text().notNull(),
  enteredBy: text({ enum: ["link", "password", "user", "provider"] }).notNull(),
  /** The user who signed in; null after a link or the operator's password. */
  userId: userReference(),
  /** SHA-256 of the session's id at the sign-in provider, hex; null if the provider sends none. */
  providerSession: text(),
  /** SHA-256 of the settings by which the provider's user was let in, hex: other settings end the session. */
  providerRules: text(),
  enteredAt: integer().notNull(),
  /** Time of last use, accurate to a minute. */
  seenAt: integer().notNull(),
  /** End of the session, used or not. */
  endsAt: integer().notNull(),
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

/** Tags that applications give to recordings. */
export const recordingTags = sqliteTable(
  "recording_tags",
  { accountId: accountReference(), tag: text().notNull(), recordingId: recordingReference() },
  (table) => [primaryKey({ columns: [table.accountId, table.tag, table.recordingId] })],
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
export const searchableRecordings = sqliteTable("searchable_recordings", {
  /** Sorts by creation; row ids of a recording in `searchable_texts` are number << 21 | index. */
  number: integer().primaryKey(),
  recordingId: recordingReference(),
  /** Whether all texts are indexed: those of recordings of several days are indexed in batches. */
  isWhole: integer({ mode: "boolean" }).notNull(),
  /** Whether all texts must be removed before they are indexed again, because a correction has replaced many of them. */
  isStale: integer({ mode: "boolean" }).notNull().default(false),
});

/** Folders of the file system whose recordings are transcribed, and what the server last saw in each. */
export const folders = sqliteTable("folders", {
  id: text().primaryKey(),
  accountId: accountReference(),
  workspaceId: text().references(() => workspaces.id),
  /** Absolute path without links. */
  path: text().notNull(),
  /** Absolute path of the directory for results; null: next to the recordings. */
  target: text(),
  /** JSON array of export formats. */
  formats: text().notNull(),
  /** Language of the recordings, ISO 639; null for language detection. */
  language: text(),
  /** Whether the recordings are translated to English as well. */
  isTranslated: integer({ mode: "boolean" }).notNull().default(false),
  createdAt: integer().notNull(),
  /** Number of files that were seen and not taken yet. */
  waiting: integer().notNull().default(0),
  /** JSON array of the waiting files that seem to be incomplete, as objects with `name` and `doubt`. */
  incomplete: text().notNull().default("[]"),
  /** Number of entries that are not read: subfolders, names that are not UTF-8, and those beyond the maximum. */
  unread: integer().notNull().default(0),
  /** Why the server takes no file or writes no results now; null if it does. */
  hindrance: text({ enum: hindrances }),
  hinderedSince: integer(),
  /** Time of the last visit, accurate to a minute; null before the first one. */
  seenAt: integer(),
  /** Numbers of files that were moved to `done/` and to `failed/`. */
  done: integer().notNull().default(0),
  failed: integer().notNull().default(0),
});

/** Files that were taken from a folder. A row of a finished file stays for as long as its recording. */
export const folderFiles = sqliteTable("folder_files", {
  id: text().primaryKey(),
  folderId: text()
    .notNull()
    .references(() => folders.id, { onDelete: "cascade" }),
  /** Null for a file that was refused, or when the recording was deleted. */
  recordingId: text().references(() => recordings.id, { onDelete: "set null" }),
  state: text({ enum: fileStates }).notNull(),
  /** Current name in the folder. */
  name: text().notNull(),
  sizeBytes: integer().notNull(),
  /** Time of its last change in nanoseconds, which no JavaScript number can hold. */
  modified: text().notNull(),
  inode: text().notNull(),
  /** SHA-256 of its content, hex; null for a file that was not read completely. */
  sha256: text(),
  /** Why the file failed. */
  reason: text({ enum: fileFaults }),
  /** Sentence for people about an unusable file. */
  detail: text(),
  /** Number of attempts that the machine or the account's quota ended. */
  attempts: integer().notNull().default(0),
  /** Time from which a postponed file is taken again. */
  retryAt: integer(),
  createdAt: integer().notNull(),
});

/** The voice of each speaker of a recording, for accounts that remember voices. */
export const speakerVoices = sqliteTable(
  "speaker_voices",
  {
    recordingId: recordingReference(),
    /** As in `segments.speaker`. */
    speaker: integer().notNull(),
    /** The recording's account. */
    accountId: accountReference(),
    /** SHA-256 of the embedding model's file, hex: embeddings of different models cannot be compared. */
    model: text().notNull(),
    /** Seconds of clean speech that the embedding represents. */
    seconds: real().notNull(),
    /** 32-bit floats, the least significant byte first. */
    embedding: blob({ mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.recordingId, table.speaker] })],
);

/** Voices that an account remembers. */
export const voices = sqliteTable("voices", {
  id: text().primaryKey(),
  accountId: accountReference(),
  name: text().notNull(),
  /** As in `speaker_voices.model`. */
  model: text().notNull(),
  /** User who stored it, as in the audit log. */
  createdBy: text().notNull(),
  createdAt: integer().notNull(),
});

const voiceReference = () =>
  text()
    .notNull()
    .references(() => voices.id, { onDelete: "cascade" });

/** Voices of a speaker in one recording each, by which a remembered voice is compared. */
export const voiceExamples = sqliteTable("voice_examples", {
  id: integer().primaryKey(),
  voiceId: voiceReference(),
  /** Null after the recording was deleted. */
  recordingId: text().references(() => recordings.id, { onDelete: "set null" }),
  speaker: integer().notNull(),
  seconds: real().notNull(),
  embedding: blob({ mode: "buffer" }).notNull(),
});

/** Voices that a user rejected for a recording, for which they are not proposed again. */
export const rejectedVoices = sqliteTable(
  "rejected_voices",
  { recordingId: recordingReference(), voiceId: voiceReference() },
  (table) => [primaryKey({ columns: [table.recordingId, table.voiceId] })],
);

/**
 * Live sessions that are kept: open ones, and those that became a recording, with whose deletion they disappear. Of a
 * session that is not kept, nothing is stored.
 */
export const liveSessions = sqliteTable("live_sessions", {
  id: text().primaryKey(),
  accountId: accountReference(),
  /** Workspace of the key; null for none, and after the session has become a recording. */
  workspaceId: text().references(() => workspaces.id),
  /** The recording that the session has become; null until then. */
  recordingId: text().references(() => recordings.id, { onDelete: "cascade" }),
  /** Who may resume the session: the id of the key, or another stable name. */
  holder: text().notNull(),
  /** JSON, see storedOptionsSchema in live/store/stored-options.ts. */
  options: text().notNull(),
  /** JSON object: names of speakers by their labels (`S1`). */
  speakerNames: text().notNull(),
  /** Number of samples before which all words are final. */
  settledSamples: integer().notNull(),
  /** Null while the session is open. */
  endReason: text({ enum: liveEnds }),
  createdAt: integer().notNull(),
  endedAt: integer(),
});

/** Words of live sessions that are final, in the order of the session. */
export const liveSegments = sqliteTable(
  "live_segments",
  {
    sessionId: text()
      .notNull()
      .references(() => liveSessions.id, { onDelete: "cascade" }),
    number: integer().notNull(),
    /** Id of the turn. */
    turn: text().notNull(),
    startMilliseconds: integer().notNull(),
    endMilliseconds: integer().notNull(),
    /** The speaker's label is `S` and this number; null while the speaker is not known. */
    speaker: integer(),
    text: text().notNull(),
    /** JSON array of words, see StoredWord in segments/segments.ts. */
    words: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.number] })],
);

/** Words that an account's transcripts always write in one way. */
export const replacements = sqliteTable("replacements", {
  id: text().primaryKey(),
  accountId: accountReference(),
  /** The words that are replaced, and the text that is written instead. */
  source: text().notNull(),
  target: text().notNull(),
  /** Whether upper and lower case must match. */
  matchesCase: integer({ mode: "boolean" }).notNull(),
  createdAt: integer().notNull(),
  /** The person, as in the audit log. */
  createdBy: text().notNull(),
});

/** Addresses to which the events of an account's recordings are sent. */
export const webhooks = sqliteTable("webhooks", {
  id: text().primaryKey(),
  accountId: accountReference(),
  url: text().notNull(),
  /** JSON array of the events that it receives. */
  events: text().notNull(),
  /** `whsec_…`, with which its messages are signed. */
  secret: text().notNull(),
  /** The secret before a rotation, with which messages are signed as well until its end. */
  formerSecret: text(),
  formerSecretUntil: integer(),
  createdAt: integer().notNull(),
  /** The person, as in the audit log. */
  createdBy: text().notNull(),
  pausedAt: integer(),
  pauseReason: text({ enum: pauseReasons }),
});

/** Events that webhooks receive, or have received. */
export const webhookDeliveries = sqliteTable("webhook_deliveries", {
  position: integer().primaryKey({ autoIncrement: true }),
  /** Sent as `webhook-id`. */
  id: text().notNull(),
  webhookId: text()
    .notNull()
    .references(() => webhooks.id, { onDelete: "cascade" }),
  /** No reference: the recording may be removed before. Null for a test. */
  recordingId: text(),
  type: text({ enum: webhookEvents }).notNull(),
  /** The JSON that is sent. It does not change after the first attempt. */
  body: text().notNull(),
  state: text({ enum: deliveryStates }).notNull(),
  createdAt: integer().notNull(),
  /**
   * When it may be attempted; null if it is not pending, or if an earlier event of its recording is still pending for the
   * webhook. Of the pending events of a recording, exactly the first one has such a time.
   */
  dueAt: integer(),
  /** Number of attempts that were begun. */
  attempts: integer().notNull().default(0),
  /** Start of the first attempt since the webhook was paused last, from which the three days count. */
  firstAttemptAt: integer(),
  /** Start of the last attempt, its duration, the HTTP status of the answer, and why it failed. */
  lastAttemptAt: integer(),
  lastMilliseconds: integer(),
  lastStatus: integer(),
  lastFault: text({ enum: deliveryFaults }),
  deliveredAt: integer(),
});

/** Which server may serve the database: one row. */
export const serving = sqliteTable("serving", {
  id: integer().primaryKey(),
  /** Increased by each promotion of a standby. */
  epoch: integer().notNull(),
  /** Id of the folder that fences the servers, or `broker`; null without one. */
  fence: text(),
  /** Id that all copies of this database have. */
  database: text().notNull(),
});
