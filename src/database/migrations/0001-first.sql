CREATE TABLE accounts (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  standing TEXT NOT NULL CHECK (standing IN ('active', 'guest', 'restricted')),
  subscribed_until INTEGER,
  priority INTEGER NOT NULL,
  limits TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX accounts_name ON accounts (name);

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX workspaces_name ON workspaces (account_id, name);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  workspace_id TEXT REFERENCES workspaces (id),
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  hash TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER,
  replaced_by TEXT
) STRICT;
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE INDEX api_keys_account ON api_keys (account_id);

CREATE TABLE recordings (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  workspace_id TEXT REFERENCES workspaces (id),
  status TEXT NOT NULL CHECK (status IN ('queued', 'processing', 'completed', 'failed')),
  pinned_language TEXT,
  language TEXT,
  source_name TEXT,
  source_url TEXT,
  size_bytes INTEGER,
  duration_seconds REAL,
  step TEXT,
  percent INTEGER,
  failure_reason TEXT,
  failure_cause TEXT,
  held_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX recordings_account_id ON recordings (account_id, id);
CREATE INDEX recordings_account_status ON recordings (account_id, status, id);
CREATE INDEX recordings_status ON recordings (status, id);

CREATE TABLE kept_answers (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  workspace_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT,
  recording_id TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, workspace_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_answers_created ON kept_answers (created_at);
CREATE INDEX kept_answers_recording ON kept_answers (recording_id);

CREATE TABLE creates (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX creates_account ON creates (account_id, created_at);

CREATE TABLE audio_usage (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  recording_id TEXT NOT NULL,
  seconds REAL NOT NULL,
  PRIMARY KEY (account_id, day, recording_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audio_usage_recording ON audio_usage (recording_id);

CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  details TEXT NOT NULL
) STRICT;

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
