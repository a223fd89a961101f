-- How far the audit log has reached its syslog receiver: one row, or none before the first delivery.
CREATE TABLE audit_forwarding (
  id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
  position INTEGER NOT NULL
) STRICT;
