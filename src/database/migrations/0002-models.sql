-- The speech model that a recording was created for, an id or an absolute path, and its digest once work has begun.
ALTER TABLE recordings ADD COLUMN speech_model TEXT;
ALTER TABLE recordings ADD COLUMN speech_model_sha256 TEXT;

CREATE TABLE chosen_models (
  kind TEXT PRIMARY KEY NOT NULL,
  model TEXT NOT NULL,
  chosen_at INTEGER NOT NULL
) STRICT;
