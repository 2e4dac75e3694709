import { bigint, integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";

/**
 * The groups that have jobs which are not final. Whoever adds a job locks its group's row until the commit, so that the
 * order in the group is the order of the commits; whoever lets the next one through does too.
 */
export const jobGroups = pgTable(
  "job_groups",
  {
    tenant: text().notNull(),
    queue: text().notNull(),
    group_key: text().notNull(),
    /** The place of the job that was added last. */
    last_seq: bigint({ mode: "number" }).notNull(),
    /** How many of the jobs that were added last were let through at once. */
    admitted: integer().notNull(),
    /** The jobs that were let through and may not have finished yet. */
    heads: uuid().array().notNull(),
  },
  (group) => [primaryKey({ columns: [group.tenant, group.queue, group.group_key] })],
);

/** Groups of which a job has finished: written with that, deleted when the next job was let through. */
export const groupHandovers = pgTable("group_handovers", {
  tenant: text().notNull(),
  queue: text().notNull(),
  group_key: text().notNull(),
});
