-- As the columns of `queues` they are compared with: with another order the index of the window cannot be used.
ALTER TABLE queue_starts ALTER COLUMN tenant TYPE text COLLATE "C", ALTER COLUMN queue TYPE text COLLATE "C", ALTER COLUMN group_key TYPE text COLLATE "C";
