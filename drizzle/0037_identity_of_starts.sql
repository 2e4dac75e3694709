-- It has no key, and PostgreSQL updates and deletes nothing of such a table while a publication has it.
ALTER TABLE "queue_starts" REPLICA IDENTITY FULL;