import { sql, bigint, index, integer, primaryKey, text, uuid, atlasqueue, time } from "../drizzle.ts";

/**
 * The groups with unfinished jobs. Adding a job locks its group's row until the commit, so that the order in the group
 * is commit order; letting the next one through locks it too.
 */
export const jobGroups = atlasqueue.table(
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
    /** It has room for jobs that wait in it, but was not given them. From then on the sweep looks at it, and others queue up behind. */
    overdue_at: time(),
    /** When a job of the group started last, in a queue with `fair_by`: a new one comes after those whose turn it is. */
    last_started_at: time().notNull().defaultNow(),
  },
  (group) => [
    primaryKey({ columns: [group.tenant, group.queue, group.group_key] }),
    index("job_groups_overdue")
      .on(group.tenant, group.overdue_at)
      .where(sql`overdue_at IS NOT NULL`),
  ],
);
