-- The search index gets other words: texts are folded in another way, and each Korean syllable is a word. The server fills it
-- again in the background. Only spaces separate words now, so the index and the program agree about every letter.
DROP TABLE searchable_texts;
CREATE VIRTUAL TABLE searchable_texts USING fts5 (text, columnsize = 0, tokenize = "ascii");
INSERT INTO searchable_texts (searchable_texts, rank) VALUES ('secure-delete', 1);
DELETE FROM searchable_recordings;
