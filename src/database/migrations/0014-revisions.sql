-- Corrections of transcripts by people. The recognized segments never change: the first correction copies them.
ALTER TABLE recordings ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE recordings ADD COLUMN corrected_state TEXT;
CREATE TABLE corrected_segments (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  id INTEGER NOT NULL,
  "index" INTEGER NOT NULL,
  start_milliseconds INTEGER NOT NULL,
  end_milliseconds INTEGER NOT NULL,
  speaker INTEGER NOT NULL,
  text TEXT NOT NULL,
  words TEXT NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (recording_id, id)
) STRICT;
CREATE INDEX corrected_segments_index ON corrected_segments (recording_id, "index");
CREATE INDEX corrected_segments_start ON corrected_segments (recording_id, start_milliseconds, id);
CREATE TABLE revisions (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  author TEXT NOT NULL,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  editor TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  replaces INTEGER,
  next TEXT,
  segments INTEGER NOT NULL,
  reorders INTEGER NOT NULL,
  changes TEXT NOT NULL,
  PRIMARY KEY (recording_id, number)
) STRICT;
