-- People who sign in to the console: from the sign-in provider (issuer and subject), or created by a command (password).
CREATE TABLE users (
  id TEXT PRIMARY KEY NOT NULL,
  issuer TEXT,
  subject TEXT,
  password_hash TEXT,
  name TEXT NOT NULL,
  email TEXT,
  role TEXT NOT NULL,
  all_accounts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_sign_in_at INTEGER,
  disabled_at INTEGER
) STRICT;
CREATE UNIQUE INDEX users_subject ON users (issuer, subject) WHERE issuer IS NOT NULL;
CREATE UNIQUE INDEX users_email ON users (email) WHERE issuer IS NULL;

-- The accounts whose recordings a user sees.
CREATE TABLE user_accounts (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_accounts_account ON user_accounts (account_id);

-- Sessions of users, too. SQLite can't change the check of entered_by in place.
ALTER TABLE console_sessions RENAME TO earlier_sessions;
CREATE TABLE console_sessions (
  hash TEXT PRIMARY KEY NOT NULL,
  actor TEXT NOT NULL,
  entered_by TEXT NOT NULL CHECK (entered_by IN ('link', 'password', 'user', 'provider')),
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  provider_session TEXT,
  provider_rules TEXT,
  entered_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT;
INSERT INTO console_sessions (hash, actor, entered_by, entered_at, seen_at, ends_at)
  SELECT hash, actor, entered_by, entered_at, seen_at, entered_at + 604800000 FROM earlier_sessions;
DROP TABLE earlier_sessions;
CREATE INDEX console_sessions_user ON console_sessions (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX console_sessions_provider ON console_sessions (provider_session) WHERE provider_session IS NOT NULL;
