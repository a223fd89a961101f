-- Names and terms that whisper is told to expect: an account's, and those that a recording was created with.
ALTER TABLE accounts ADD COLUMN vocabulary TEXT;
ALTER TABLE recordings ADD COLUMN vocabulary TEXT;
