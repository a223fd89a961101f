-- Live sessions that are kept. An open one becomes a recording when it ends; then its row has the words that were
-- recognized while it ran.
CREATE TABLE live_sessions (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  workspace_id TEXT REFERENCES workspaces (id),
  recording_id TEXT REFERENCES recordings (id) ON DELETE CASCADE,
  holder TEXT NOT NULL,
  options TEXT NOT NULL,
  speaker_names TEXT NOT NULL,
  settled_samples INTEGER NOT NULL,
  end_reason TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX live_sessions_account ON live_sessions (account_id);
CREATE INDEX live_sessions_workspace ON live_sessions (workspace_id) WHERE workspace_id IS NOT NULL;
CREATE UNIQUE INDEX live_sessions_recording ON live_sessions (recording_id) WHERE recording_id IS NOT NULL;
CREATE INDEX live_sessions_open ON live_sessions (recording_id) WHERE recording_id IS NULL;
-- Words of a session that are final.
CREATE TABLE live_segments (
  session_id TEXT NOT NULL REFERENCES live_sessions (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  turn TEXT NOT NULL,
  start_milliseconds INTEGER NOT NULL,
  end_milliseconds INTEGER NOT NULL,
  speaker INTEGER,
  text TEXT NOT NULL,
  words TEXT NOT NULL,
  PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;
