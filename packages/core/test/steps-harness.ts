import type { Json, SubmitJobInput } from "@atlasqueue/contract";
import { expect } from "vitest";
import { countDrift } from "../src/counts/job-checks.ts";
import type { Lease } from "../src/lease/lease.ts";
import { fail } from "../src/settle/settle.ts";
import { findJobSteps } from "../src/steps/find.ts";
import { sendSignal } from "../src/steps/signal.ts";
import { engineHarness, tenant } from "./engine-harness.ts";

export const stranger = "01890000-0000-7000-8000-000000000000";

/**
 * `engineHarness` for steps, signals and parking.
 *
 * @example
 * const { deps, started, signal } = stepsHarness();
 */
export function stepsHarness() {
  const engine = engineHarness();
  const { deps, add, take } = engine;
  return {
    ...engine,
    started: async (request: Partial<SubmitJobInput> = {}): Promise<Lease> => take((await add(request))[0]),
    signal: (id: string, name = "go", payload: Json = null) => sendSignal(deps, tenant, id, name, payload),
    stored: async (id: string) => (await findJobSteps(deps, tenant, id))?.steps.map(({ name }) => name),
    async timeIsOver(id: string): Promise<void> {
      const { sql } = deps.database;
      await sql`
        UPDATE atlasqueue.jobs SET due_at = now() - interval '1 s', run_at = now() - interval '1 s' WHERE id = ${id} AND due_at > now()`;
      await sql`UPDATE atlasqueue.job_state SET until = now() - interval '1 s' WHERE job_id = ${id} AND kind = 'wait'`;
    },
    die: (lease: Lease) => fail(deps, [{ lease, error: "E: no", verdict: { kind: "dead", reason: "not_retryable" } }]),
    counts: async () => expect((await countDrift(deps, 1_000)).drifted).toEqual([]),
  };
}
