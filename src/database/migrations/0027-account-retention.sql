-- Days for which an account's audio and recordings are kept, in place of the settings'.
ALTER TABLE accounts ADD COLUMN audio_days INTEGER;
ALTER TABLE accounts ADD COLUMN completed_days INTEGER;
