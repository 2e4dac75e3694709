-- It has no key, and PostgreSQL updates and deletes nothing of such a table while a publication has it.
ALTER TABLE "inside_submissions" REPLICA IDENTITY FULL;