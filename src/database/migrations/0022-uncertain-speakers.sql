-- Whether the speaker of a segment is uncertain. Segments of before are not marked: their voices were not compared for it.
ALTER TABLE segments ADD COLUMN is_speaker_uncertain INTEGER NOT NULL DEFAULT 0;
ALTER TABLE corrected_segments ADD COLUMN is_speaker_uncertain INTEGER NOT NULL DEFAULT 0;
