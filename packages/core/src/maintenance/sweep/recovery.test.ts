import { createLogger } from "../../index.ts";
import { expect, test } from "vitest";
import { engineHarness } from "../../../test/engine-harness.ts";
import { createFollowUps } from "../../follow-ups.ts";
import { recoverAll } from "./recovery.ts";

const { deps, add, expire, take, read } = engineHarness();
const abandoned = 1_500;

test("the claims a tenant lets end by the thousand keep no other's job from its recovery", async () => {
  const { sql } = deps.database;
  const [id = ""] = await add({});
  await take(id);
  await sql`
    WITH claimed AS (
      INSERT INTO atlasqueue.jobs (id, tenant, type, status, attempts, lease_token, locked_until, worker_id, started_at, run_at,
                        created_at, updated_at, payload)
      SELECT gen_random_uuid(), 'greedy', 'a', 'running', 1, gen_random_uuid(), now() - interval '10 seconds', 'w', now(),
             now(), now(), now(), '{}'
      FROM generate_series(1, ${abandoned}::int)
      RETURNING id, tenant, lease_token
    )
    INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
    SELECT tenant, lease_token, 'w', now() - interval '10 seconds', ARRAY[id] FROM claimed`;
  await expire(id);
  const followUps = createFollowUps(deps);
  expect(await recoverAll({ ...deps, followUps, logger: createLogger("silent", "test") })).toBe(abandoned + 1);
  await followUps.stop();
  expect(await read(id)).toMatchObject({ status: "queued" });
});
