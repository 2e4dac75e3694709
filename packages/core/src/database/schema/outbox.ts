import { bigserial, index, jsonb, primaryKey, smallint, sql, text, atlasqueue, time } from "../drizzle.ts";

/**
 * What is still to be done because of something that was committed: a row is written in the transaction that gives the
 * reason, and deleted in the transaction that does it. See outbox/drain-page.ts.
 */
export const outbox = atlasqueue.table(
  "outbox",
  {
    id: bigserial({ mode: "number" }).notNull(),
    /** Which handler acts on it. Processes leave kinds and newer versions that they don't know. */
    kind: text().notNull(),
    version: smallint().notNull().default(1),
    tenant: text().notNull(),
    /** The job that it is about, if any. */
    key: text(),
    /** A tenant's rows with the same lane are acted on in their order. */
    lane: text(),
    /** `tries`: how often it was put off. The rest is the handler's. */
    payload: jsonb().$type<{ tries?: number }>(),
    /** Until when it was put off; `-infinity` is at once. */
    not_before: time()
      .notNull()
      .default(sql`'-infinity'`),
  },
  (row) => [
    // What is due of a tenant, in its order.
    primaryKey({ columns: [row.tenant, row.not_before, row.id] }),
    index("outbox_lane")
      .on(row.tenant, row.lane, row.id)
      .where(sql`lane IS NOT NULL`),
    // A key that a job is to get once it is admitted.
    index("outbox_idempotency_key")
      .on(row.tenant, sql`(payload ->> 'idempotency_key')`)
      .where(sql`payload ->> 'idempotency_key' IS NOT NULL`),
  ],
);
