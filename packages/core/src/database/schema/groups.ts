import { sql, bigint, boolean, index, integer, pgTable, primaryKey, text, uuid } from "../drizzle.ts";

/**
 * The groups with unfinished jobs. Adding a job locks its group's row until the commit, so that the order in the group
 * is commit order; letting the next one through locks it too.
 */
export const jobGroups = pgTable(
  "job_groups",
  {
    tenant: text().notNull(),
    queue: text().notNull(),
    group_key: text().notNull(),
    /** The place of the job added last. */
    last_seq: bigint({ mode: "number" }).notNull(),
    /** How many of the last added jobs were let through at once. */
    admitted: integer().notNull(),
    /** The jobs let through that may not have finished yet. */
    heads: uuid().array().notNull(),
  },
  (group) => [primaryKey({ columns: [group.tenant, group.queue, group.group_key] })],
);

/** Groups in which a job has finished: written together with that, deleted when the next job is let through. */
export const groupHandovers = pgTable(
  "group_handovers",
  {
    tenant: text().notNull(),
    queue: text().notNull(),
    group_key: text().notNull(),
    /** It was one of a page full of notes whose groups could not go on: from then on it is looked at in turn. */
    aside: boolean().notNull().default(false),
  },
  // Not of all of them: most notes live for milliseconds, and an index would keep their dead entries for open snapshots.
  (note) => [
    index("group_handovers_aside")
      .on(note.tenant, note.queue, note.group_key)
      .where(sql`aside`),
  ],
);
