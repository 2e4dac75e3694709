import { bigint, index, primaryKey, text, atlasqueue, time } from "../drizzle.ts";

const total = () => bigint({ mode: "number" }).notNull();

/**
 * What happened in a minute or an hour from `at` on, by the database's clock. Minutes are folded into hours after two
 * days. An empty queue or type stands for all of them, so that no reader has to add up queues.
 */
export const rollups = atlasqueue.table(
  "rollups",
  {
    tenant: text().notNull(),
    queue: text().notNull(),
    type: text().notNull(),
    resolution: text().$type<"minute" | "hour">().notNull(),
    at: time().notNull(),
    submitted: total(),
    succeeded: total(),
    failed: total(),
    dead: total(),
    retried: total(),
    /** How long jobs waited, and ran: how many in each bucket (`rollups/histogram.ts`), without the empty ones at the end. */
    waits: bigint({ mode: "number" }).array().notNull(),
    runs: bigint({ mode: "number" }).array().notNull(),
  },
  (row) => [
    primaryKey({ columns: [row.tenant, row.queue, row.type, row.at, row.resolution] }),
    // The oldest of each, to be folded or forgotten.
    index("rollups_at").on(row.resolution, row.at),
  ],
);
