-- Which server may serve this database: each promotion of a standby increases the epoch. The fence is the id of the folder
-- that fences the servers, or "broker"; null without one.
CREATE TABLE serving (
  id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  epoch INTEGER NOT NULL,
  fence TEXT
) STRICT;
INSERT INTO serving (id, epoch, fence) VALUES (1, 1, NULL);
