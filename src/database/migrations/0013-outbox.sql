-- Ends of recordings that are not delivered to the parts of the server yet.
CREATE TABLE outbox (
  position INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  recording_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
