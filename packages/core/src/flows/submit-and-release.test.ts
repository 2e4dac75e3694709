import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { advanceAndAdmit } from "../../test/advance.ts";
import { claimer, completeAll, engineHarness } from "../../test/engine-harness.ts";
import { claimReady } from "../lease/claim.ts";
import type { FlowJob } from "./flow.ts";
import { submitFlow } from "./submit-flow.ts";

const { deps } = engineHarness();
const options = { idempotency_ttl_seconds: 60 };
const job = (ties: Partial<FlowJob> = {}, request = {}): FlowJob => ({ ...submission(request), ...ties });

test("everything of a submitted flow runs, in an order that keeps the ties, in groups and without", async () => {
  for (const request of [{}, { group: "g" }]) {
    const jobs = Array.from({ length: 40 }, (_, at) =>
      job({ ref: `${at}`, depends_on: [at - 1, at - 7].filter((p) => p >= 0 && at % 5).map(String) }, request),
    );
    const outcome = await submitFlow(deps, { jobs, then: submission(request) }, options);
    if (outcome.kind !== "stored") throw new Error("refused");
    const ids = outcome.outcomes.map((o) => ("job" in o ? o.job.id : ""));
    const order: string[] = [];
    for (let idle = 0; idle < 3; idle += 1) {
      await advanceAndAdmit(deps);
      const leases = await claimReady(deps, 7, claimer);
      if (leases.length > 0) idle = 0;
      order.push(...leases.map(({ id }) => id));
      await completeAll(deps, leases);
    }
    expect(new Set(order)).toEqual(new Set(ids));
    jobs.forEach(({ depends_on = [] }, at) =>
      depends_on.forEach((p) => expect(order.indexOf(ids[Number(p)] ?? "")).toBeLessThan(order.indexOf(ids[at] ?? ""))),
    );
    expect(order.at(-1)).toBe(ids.at(-1));
  }
  for (const t of ["flow_edges", "outbox"])
    expect(await deps.database.sql`SELECT FROM ${deps.database.sql(`atlasqueue.${t}`)}`).toHaveLength(0);
});
