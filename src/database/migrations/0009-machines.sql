-- How many parts of a recording each machine of a fleet computed. A server that works alone writes no row.
CREATE TABLE recording_machines (
  recording_id TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  parts INTEGER NOT NULL,
  PRIMARY KEY (recording_id, machine)
) STRICT, WITHOUT ROWID;
