-- Recordings that are translated to English as well, and their translations.
ALTER TABLE recordings ADD COLUMN is_translated INTEGER NOT NULL DEFAULT 0;
CREATE TABLE translated_segments (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  "index" INTEGER NOT NULL,
  start_milliseconds INTEGER NOT NULL,
  end_milliseconds INTEGER NOT NULL,
  speaker INTEGER NOT NULL,
  text TEXT NOT NULL,
  words TEXT NOT NULL,
  PRIMARY KEY (recording_id, "index")
) STRICT, WITHOUT ROWID;
