-- An id that all copies of this database have and no other one, so that an empty database never replaces a copy of this one.
ALTER TABLE serving ADD COLUMN database TEXT NOT NULL DEFAULT '';
UPDATE serving SET database = lower(hex(randomblob(16)));
