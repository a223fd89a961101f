-- How many parts of a recording each speech model recognized.
CREATE TABLE recording_models (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  parts INTEGER NOT NULL,
  PRIMARY KEY (recording_id, model)
) STRICT, WITHOUT ROWID;
