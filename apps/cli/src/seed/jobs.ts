import { defaultTenant, type Deps } from "@atlasqueue/core/internal";
import { countMixedMoves, executeOn, fingerprintOf, numberArray, textArray } from "@atlasqueue/core/internal/tools";
import { kindsOf, namedQueues, type Kind } from "./kinds.ts";

/** How many jobs of each class, and in how many queues. */
export type DayShape = { finished: number; open: number; dead: number; queues: number };

const part_rows = 50_000;

/**
 * The jobs of the last day as our workers would have left them, with their attempts and their counts. `tell` hears how
 * many there are so far.
 */
export async function seedJobs(
  deps: Pick<Deps, "database">,
  shape: DayShape,
  tell: (jobs: number) => void,
): Promise<void> {
  // A part takes longer than a request may.
  const execute = executeOn({ ...deps.database, timeout_ms: 120_000 });
  let inserted = 0;
  for (const one of ["finished", "open", "dead"] as const)
    for (let from = 0; from < shape[one]; from += part_rows) {
      const count = Math.min(part_rows, shape[one] - from);
      await execute({
        text: seedPart,
        params: [inserted, count, defaultTenant, shape.queues, ...columnsOf(one), from, shape[one]],
      });
      tell((inserted += count));
    }
}

function columnsOf(one: Kind["class"]): (string | number)[] {
  const { own, shares } = kindsOf(one);
  let upto = 0;
  const texts = (read: (kind: Kind) => string | undefined) => textArray(own.map(read));
  const numbers = (read: (kind: Kind) => number) => numberArray(own.map(read));
  return [
    numbers(({ share }) => (upto += share) / shares),
    texts(({ queue }) => queue),
    texts(({ type }) => type),
    texts(({ status }) => status),
    texts(({ payload }) => payload),
    numbers(({ wait_ms }) => wait_ms),
    numbers(({ run_ms }) => run_ms),
    texts(({ error }) => error),
    texts(({ error }) => error && fingerprintOf(error.replaceAll("%n", "1"))),
    namedQueues.length,
  ];
}

const ms = (value: string) => `interval '1 millisecond' * (${value})`;

/** Version 7, made from a time and a number, as ids sort by when they were made. */
const id = `(lpad(to_hex((extract(epoch FROM made_at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'
    || substr(md5(n::text), 4, 15))::uuid`;

/**
 * The numbers from $1 on, each drawn a kind, in the order of time. Half of what died did so in one bad half hour. Half of
 * what finished was in numbered queues, and a third of what is open.
 */
const seedPart = `
  WITH kind AS MATERIALIZED (
    SELECT *, lag(upto, 1, 0::float8) OVER (ORDER BY upto) AS above
    FROM unnest($5::float8[], $6::text[], $7::text[], $8::text[], $9::text[], $10::float8[], $11::float8[], $12::text[], $13::text[])
      AS kind(upto, queue, type, status, payload, wait_ms, run_ms, error, fingerprint)
  ), drawn AS MATERIALIZED (
    SELECT $1::int + n AS n, ($15::float8 + n) / $16::float8 AS moment, random() AS which, random() AS luck, random() AS length, random() AS numbered,
           (random() * greatest(0, $4::int - $14::int - 1))::int + 1 AS customer
    FROM generate_series(1, $2::int) AS n
  ), planned AS MATERIALIZED (
    SELECT n, type, status, error, fingerprint, payload, luck,
           CASE WHEN $4::int > $14::int AND numbered < CASE status WHEN 'succeeded' THEN 0.5 WHEN 'queued' THEN 0.33 ELSE 0 END
                THEN 'customer-' || lpad(customer::text, 5, '0') ELSE queue END AS queue,
           now() - interval '3 minutes' - interval '1 day' * CASE
             WHEN status = 'dead' AND luck < 0.5 THEN 0.22 + 0.02 * moment
             WHEN status IN ('queued', 'failed', 'scheduled') THEN 0.08 * moment
             ELSE least(0.998, greatest(0, moment + 0.05 * sin(moment * 12.566))) END AS made_at,
           wait_ms * (0.3 + 4 * power(length, 6)) AS waited, run_ms * (0.4 + 3 * power(1 - luck, 5)) AS ran,
           CASE status WHEN 'dead' THEN 3 + (2 * length)::int WHEN 'failed' THEN 1 + (2 * length)::int
                       WHEN 'succeeded' THEN CASE WHEN luck > 0.97 THEN 2 ELSE 1 END ELSE 0 END AS attempts,
           'box-' || (1 + (5 * length)::int) || '-' || (4000 + (5 * length)::int * 17) AS worker
    FROM drawn JOIN kind ON which >= above AND which < upto
  ), timed AS MATERIALIZED (
    SELECT *, made_at + ${ms("waited + greatest(0, attempts - 1) * 6000")} AS started, made_at + ${ms("waited + ran + greatest(0, attempts - 1) * 6000")} AS ended,
           replace(error, '%n', n::text) AS error_text
    FROM planned
  ), made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, run_at, ready_at, due_at, dead_at, created_at, updated_at, started_at,
                      finished_at, attempts, max_attempts, worker_id, dead_reason, last_error, error_fingerprint, payload, result)
    SELECT ${id}, $3, queue, type, status,
           CASE WHEN status = 'scheduled' THEN now() + interval '6 hours' * (0.1 + luck)
                WHEN status = 'failed' THEN now() + interval '30 minutes' * (0.1 + luck) ELSE made_at END,
           CASE WHEN status = 'queued' THEN made_at END,
           CASE WHEN status = 'scheduled' THEN now() + interval '6 hours' * (0.1 + luck)
                WHEN status = 'failed' THEN now() + interval '30 minutes' * (0.1 + luck) END,
           CASE WHEN status = 'dead' THEN ended END, made_at,
           CASE WHEN status IN ('queued', 'scheduled') THEN made_at ELSE ended END,
           CASE WHEN attempts > 0 THEN started END, CASE WHEN status IN ('succeeded', 'dead', 'cancelled') THEN ended END,
           attempts, CASE WHEN status = 'dead' THEN attempts ELSE 5 END, CASE WHEN attempts > 0 THEN worker END, CASE WHEN status = 'dead' THEN 'attempts_exhausted' END,
           CASE WHEN status IN ('dead', 'failed') THEN error_text END, CASE WHEN status = 'dead' THEN fingerprint END, replace(payload, '%n', n::text)::json,
           CASE WHEN status = 'succeeded' THEN '{"ok":true}'::json END
    FROM timed ORDER BY n
    RETURNING id, tenant, queue, status AS to_status, NULL::text AS from_status, status, attempts, worker_id, created_at, last_error
  ), history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome, error)
    SELECT tenant, id, attempt, worker_id, created_at + attempt * interval '5 seconds', created_at + attempt * interval '5 seconds' + interval '0.4 seconds', 'failed',
           coalesce(last_error, 'HttpError: 502 from https://api.example.com')
    FROM made, generate_series(1, attempts - CASE WHEN status IN ('dead', 'failed') THEN 0 ELSE 1 END) AS attempt
  ), ${countMixedMoves("made")}
  SELECT count(*) FROM made`;
