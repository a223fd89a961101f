-- Who may use the console: links that open a session once, sessions, and the operator's password. Of secrets there are digests.
CREATE TABLE console_links (
  hash TEXT PRIMARY KEY NOT NULL,
  actor TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE console_sessions (
  hash TEXT PRIMARY KEY NOT NULL,
  actor TEXT NOT NULL,
  entered_by TEXT NOT NULL CHECK (entered_by IN ('link', 'password')),
  entered_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE console_password (
  id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  hash TEXT NOT NULL,
  set_at INTEGER NOT NULL
) STRICT;

-- What speakers were renamed to, for exports made in the console.
CREATE TABLE speaker_names (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  speaker INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (recording_id, speaker)
) STRICT, WITHOUT ROWID;

-- What came in and what was done, by UTC day; it stays when recordings are deleted.
CREATE TABLE daily_work (
  day TEXT PRIMARY KEY NOT NULL,
  received_seconds REAL NOT NULL DEFAULT 0,
  completed_seconds REAL NOT NULL DEFAULT 0,
  completed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

INSERT INTO daily_work (day, received_seconds)
  SELECT strftime('%Y-%m-%d', created_at / 1000, 'unixepoch'), sum(coalesce(duration_seconds, 0))
  FROM recordings GROUP BY 1;
INSERT INTO daily_work (day, completed_seconds, completed, failed)
  SELECT strftime('%Y-%m-%d', updated_at / 1000, 'unixepoch'),
    sum(CASE status WHEN 'completed' THEN coalesce(duration_seconds, 0) ELSE 0 END),
    sum(status = 'completed'), sum(status = 'failed')
  FROM recordings WHERE status IN ('completed', 'failed') GROUP BY 1
  ON CONFLICT (day) DO UPDATE SET completed_seconds = excluded.completed_seconds,
    completed = excluded.completed, failed = excluded.failed;

-- The search in what was said. A recording's number sorts by its creation; its segments' rows are number << 21 | index, its
-- name's is the last of them. What is deleted is to leave nothing in the index, either.
CREATE TABLE searchable_recordings (
  number INTEGER PRIMARY KEY NOT NULL,
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  is_whole INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX searchable_recordings_recording ON searchable_recordings (recording_id);
CREATE VIRTUAL TABLE searchable_texts USING fts5 (
  text, columnsize = 0, tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* Co'"
);
INSERT INTO searchable_texts (searchable_texts, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER searchable_recordings_forget AFTER DELETE ON searchable_recordings BEGIN
  DELETE FROM searchable_texts WHERE rowid BETWEEN old.number << 21 AND (old.number << 21) + 2097151;
END;
