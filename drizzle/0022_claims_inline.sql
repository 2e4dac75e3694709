-- A claim's ids (4 kB of 250) stay in its row, instead of being compressed and moved out of it, only to be deleted soon.
ALTER TABLE lease_batches SET (toast_tuple_target = 8160);
