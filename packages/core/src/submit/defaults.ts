import type { JobDefaults, SubmitJob } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";

/** A column of an `input` row that all jobs must have: an array of one value stands for that value in every row. */
export const each = (name: string, array: string) => `${value(name, array)} AS ${name}`;
const value = (name: string, array: string) => `coalesce(${name}, (${array})[1])`;

/**
 * A part of a WITH: the defaults of the queues of the statement's jobs, one look at each queue's row; most have none. The
 * statement that stores the jobs reads them, so they hold for all that is submitted after they were set.
 */
export const queueDefaults = `queue_defaults AS MATERIALIZED (
    SELECT tenant AS of_tenant, queue AS of_queue, defaults
    FROM (SELECT DISTINCT ${each("tenant", "$2::text[]")}, ${each("queue", "$3::text[]")} FROM unnest($2::text[], $3::text[]) AS named(tenant, queue)) AS named
    CROSS JOIN LATERAL (
      SELECT defaults FROM atlasqueue.queues AS one
      WHERE one.tenant = named.tenant AND one.queue = named.queue AND defaults IS NOT NULL OFFSET 0) AS known
  )`;

/** A join to the rows of `input`. */
export const withDefaults = `LEFT JOIN queue_defaults ON of_tenant = ${value("tenant", "$2::text[]")} AND of_queue = ${value("queue", "$3::text[]")}`;

/** What a row of `input` asks for, or else its queue's default, or else the system's. */
export const termValues = `
         coalesce(max_attempts, (defaults ->> 'max_attempts')::smallint, 5) AS max_attempts,
         coalesce(timeout_seconds, (defaults ->> 'timeout_seconds')::integer) AS timeout_seconds,
         coalesce(terms -> 'backoff', defaults -> 'backoff') AS backoff,
         coalesce(terms ->> 'retention_seconds', defaults ->> 'retention_seconds')::integer AS retention_seconds,
         coalesce(terms ->> 'result_ttl_seconds', defaults ->> 'result_ttl_seconds')::integer AS result_ttl_seconds,
         (terms ->> 'tags')::text[] AS tags, now() + make_interval(secs => (terms ->> 'expires_in')::float8) AS expires_at`;
/** The columns of these that `terms` has. */
export const termColumns = "backoff, retention_seconds, result_ttl_seconds, tags, expires_at";

/** A column of the answer: the defaults that were applied. */
export const foundDefaults = "(SELECT json_agg(queue_defaults) FROM queue_defaults) AS defaults";
export type FoundDefaults = readonly { of_tenant: string; of_queue: string; defaults: JobDefaults }[];

/** What few jobs ask for, in one parameter. */
export function termsText(request: SubmitJob): string | null {
  const { backoff, retention_seconds, result_ttl_seconds, expires_in, tags } = request;
  const terms = { backoff, retention_seconds, result_ttl_seconds, expires_in, tags: tags && textArray(tags) };
  return Object.values(terms).some((one) => one !== undefined) ? JSON.stringify(terms) : null;
}

/** The columns that the statement stored for a draft, by the defaults that it found. */
export function termsOf({ tenant, request }: { tenant: string; request: SubmitJob }, found: FoundDefaults) {
  const of_queue = found.find((one) => one.of_tenant === tenant && one.of_queue === request.queue)?.defaults;
  const of = <Name extends keyof JobDefaults>(name: Name) => request[name] ?? of_queue?.[name];
  return {
    max_attempts: of("max_attempts") ?? 5,
    timeout_seconds: of("timeout_seconds") ?? null,
    backoff: of("backoff") ?? null,
    retention_seconds: of("retention_seconds") ?? null,
    result_ttl_seconds: of("result_ttl_seconds") ?? null,
  };
}
