-- Hints of the sender about a recording: its names and terms, and bounds of its number of speakers.
ALTER TABLE recordings ADD COLUMN prompt TEXT;
ALTER TABLE recordings ADD COLUMN min_speakers INTEGER;
ALTER TABLE recordings ADD COLUMN max_speakers INTEGER;
