-- It has no key, and PostgreSQL updates and deletes nothing of such a table while a publication has it.
ALTER TABLE "group_handovers" REPLICA IDENTITY FULL;