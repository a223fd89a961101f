-- Voices of people by which later recordings of an account propose names. Only accounts that opted in have any.
ALTER TABLE accounts ADD COLUMN voices INTEGER NOT NULL DEFAULT 0;
-- The voice of each speaker of a recording.
CREATE TABLE speaker_voices (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  speaker INTEGER NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  seconds REAL NOT NULL,
  embedding BLOB NOT NULL,
  PRIMARY KEY (recording_id, speaker)
) STRICT, WITHOUT ROWID;
CREATE INDEX speaker_voices_account ON speaker_voices (account_id);
-- The voices that an account remembers.
CREATE TABLE voices (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  model TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX voices_name ON voices (account_id, name);
-- What a remembered voice is compared by. An example stays when its recording is deleted.
CREATE TABLE voice_examples (
  id INTEGER PRIMARY KEY NOT NULL,
  voice_id TEXT NOT NULL REFERENCES voices (id) ON DELETE CASCADE,
  recording_id TEXT REFERENCES recordings (id) ON DELETE SET NULL,
  speaker INTEGER NOT NULL,
  seconds REAL NOT NULL,
  embedding BLOB NOT NULL
) STRICT;
CREATE INDEX voice_examples_voice ON voice_examples (voice_id);
CREATE INDEX voice_examples_recording ON voice_examples (recording_id) WHERE recording_id IS NOT NULL;
-- Voices that a user rejected for a recording.
CREATE TABLE rejected_voices (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  voice_id TEXT NOT NULL REFERENCES voices (id) ON DELETE CASCADE,
  PRIMARY KEY (recording_id, voice_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX rejected_voices_voice ON rejected_voices (voice_id);
