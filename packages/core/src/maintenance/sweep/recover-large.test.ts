import { eventually, steppingDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../index.ts";
import { engineHarness } from "../../../test/engine-harness.ts";
import { createFollowUps } from "../../follow-ups.ts";
import { recovered_max, recoverExpired } from "../../lease/recover.ts";
import type { SweepDeps } from "../loop.ts";
import { createRecovery, recoverAll } from "./recovery.ts";

const { deps } = engineHarness();
let sweep: SweepDeps;
beforeEach(() => {
  const followUps = createFollowUps(deps);
  onTestFinished(() => followUps.stop());
  sweep = { ...deps, followUps, logger: createLogger("silent", "test") };
});

/** Claims with this many jobs each, whose workers died together. */
const abandon = (claims: number, jobs: number) => deps.database.sql`
  WITH token AS MATERIALIZED (SELECT gen_random_uuid() AS token FROM generate_series(1, ${claims}::int)), claimed AS (
    INSERT INTO atlasqueue.jobs (id, tenant, type, status, attempts, lease_token, locked_until, worker_id, started_at, run_at,
                      created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'default', 'a', 'running', 1, token, now() - interval '10 seconds', 'w', now(), now(),
           now(), now(), '{}'
    FROM token, generate_series(1, ${jobs}::int)
    RETURNING id, lease_token
  )
  INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
  SELECT 'default', lease_token, 'w', now() - interval '10 seconds', array_agg(id) FROM claimed GROUP BY lease_token`;
const ready = async (): Promise<number> =>
  (await deps.database.sql`SELECT FROM atlasqueue.jobs WHERE status = 'queued'`).length;

test("a statement takes back a bounded number of jobs, of several claims or part of one, and the rest is due at once", async () => {
  await abandon(4, 30);
  expect(await recoverExpired(deps, 50, 60)).toMatchObject({ claims: 2, more: true });
  expect(await ready()).toBe(60);
  expect(await recoverExpired(deps, 50, 20)).toMatchObject({ claims: 1, more: true });
  expect(await ready()).toBe(80);
  expect(await recoverAll(sweep, 7)).toBe(40);
  // They stay a minute, without jobs.
  expect(await deps.database.sql`SELECT FROM atlasqueue.claims WHERE job_ids <> '{}' OR check_at < now()`).toEqual([]);
});

test("locked jobs don't delay the recovery of their claim's other jobs, however few a statement takes", async () => {
  await abandon(1, 30);
  await deps.database.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs ORDER BY id LIMIT 10 FOR UPDATE`;
    expect(await recoverAll(sweep, 5)).toBe(20);
    expect(await recoverExpired(deps, 50, 5)).toMatchObject({ claims: 0, more: false });
  });
  await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now()`;
  expect(await recoverAll(sweep, 5)).toBe(10);
});

test("a recovery under way goes no further once the gate is closed", async () => {
  await abandon(2, recovered_max);
  let is_open = true;
  const database = steppingDatabase(deps.database, (step) => void (step === "answer" && (is_open = false)));
  const recover = createRecovery({ ...sweep, database }, { isOpen: () => is_open, close: () => {} });
  expect([await recover(), await recover()]).toEqual([recovered_max, 0]);
  expect(await ready()).toBe(recovered_max);
});

test("what a slow server cannot take back in time is halved until it can", { tags: ["slow"] }, async () => {
  await abandon(2, 350);
  await slowFrom(200);
  const late: Promise<number>[] = [];
  const database = { ...deps.database, timeout_ms: 1_000 };
  const recover = createRecovery({ ...sweep, database }, { close: () => void late.push(ready()), isOpen: () => true });
  await eventually(
    async () => {
      await deps.database.sql`UPDATE atlasqueue.claims SET check_at = now()`;
      await recover().catch(() => {});
      expect(await ready()).toBe(700);
    },
    { timeout_ms: 60_000 },
  );
  // Each time it was late, nothing had been taken back, and the gate was closed.
  expect(late.length).toBeGreaterThan(0);
  expect(new Set(await Promise.all(late))).toEqual(new Set([0]));
});

/** A statement that takes back more jobs than this does not end in time. */
const slowFrom = async (jobs: number) => {
  await deps.database.sql.unsafe(`
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM set_config('test.jobs', (coalesce(nullif(current_setting('test.jobs', true), ''), '0')::int + 1)::text, true);
      IF current_setting('test.jobs')::int > ${jobs} THEN PERFORM pg_sleep(60); END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER slow BEFORE UPDATE ON atlasqueue.jobs FOR EACH ROW EXECUTE FUNCTION slow()`);
  onTestFinished(() => void deps.database.sql.unsafe("DROP FUNCTION slow CASCADE"));
};
