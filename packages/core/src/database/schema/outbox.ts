import { bigserial, index, jsonb, smallint, sql, text, atlasqueue, time } from "../drizzle.ts";

/**
 * What is still to be done because of something that was committed: a row is written in the transaction that gives the
 * reason, and deleted in the transaction that does it. See outbox/drain-page.ts.
 */
export const outbox = atlasqueue.table(
  "outbox",
  {
    id: bigserial({ mode: "number" }).primaryKey(),
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
    /** When it was put off. Null is at once. */
    not_before: time(),
  },
  (row) => [
    index("outbox_due").on(row.tenant, sql`coalesce(not_before, '-infinity'::timestamptz)`, row.id),
    index("outbox_lane")
      .on(row.tenant, row.lane, row.id)
      .where(sql`lane IS NOT NULL`),
    // A key that a job is to get once it is admitted.
    index("outbox_idempotency_key")
      .on(row.tenant, sql`(payload ->> 'idempotency_key')`)
      .where(sql`payload ->> 'idempotency_key' IS NOT NULL`),
  ],
);
