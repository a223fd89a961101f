-- Addresses to which the events of an account's recordings are sent.
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  secret TEXT NOT NULL,
  former_secret TEXT,
  former_secret_until INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  paused_at INTEGER,
  pause_reason TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_account ON webhooks (account_id);
-- Events that webhooks receive, or have received. Only the first pending event of a recording has a time when it is due.
CREATE TABLE webhook_deliveries (
  position INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
  id TEXT NOT NULL,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  recording_id TEXT,
  type TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  due_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  first_attempt_at INTEGER,
  last_attempt_at INTEGER,
  last_milliseconds INTEGER,
  last_status INTEGER,
  last_fault TEXT,
  delivered_at INTEGER
) STRICT;
CREATE UNIQUE INDEX webhook_deliveries_id ON webhook_deliveries (id);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, position);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, recording_id, position) WHERE state = 'pending';
