-- Days for which an account's audio and recordings are kept, in place of the settings'.
ALTER TABLE accounts ADD COLUMN audio_days INTEGER;
ALTER TABLE accounts ADD COLUMN completed_days INTEGER;
-- Words that an account's transcripts always write in one way.
CREATE TABLE replacements (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  source TEXT NOT NULL,
  target TEXT NOT NULL,
  matches_case INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replacements_account ON replacements (account_id);
