CREATE TABLE accounts (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX accounts_name ON accounts (name);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_account ON api_keys (account_id);

CREATE TABLE recordings (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('queued', 'processing', 'completed', 'failed')),
  pinned_language TEXT,
  language TEXT,
  source_name TEXT,
  size_bytes INTEGER NOT NULL,
  duration_seconds REAL,
  step TEXT,
  percent INTEGER,
  failure_reason TEXT,
  failure_cause TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX recordings_account_status ON recordings (account_id, status);
CREATE INDEX recordings_status ON recordings (status, id);

CREATE TABLE checkpoints (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  step TEXT NOT NULL,
  part INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (recording_id, step, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE segments (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  "index" INTEGER NOT NULL,
  start_milliseconds INTEGER NOT NULL,
  end_milliseconds INTEGER NOT NULL,
  speaker INTEGER NOT NULL,
  text TEXT NOT NULL,
  words TEXT NOT NULL,
  PRIMARY KEY (recording_id, "index")
) STRICT, WITHOUT ROWID;
