-- The audio track of its file from which a recording was transcribed, from 1, and the number of audio tracks.
ALTER TABLE recordings ADD COLUMN audio_track INTEGER;
ALTER TABLE recordings ADD COLUMN audio_tracks INTEGER;
