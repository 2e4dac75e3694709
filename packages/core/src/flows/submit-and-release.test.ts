import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/harness";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { advanceAndAdmit } from "../../test/advance.ts";
import { connectDatabase } from "../database/connect.ts";
import { deleteFinished } from "../jobs/delete.ts";
import { claim, claimReady } from "../lease/claim.ts";
import { firstId, prune } from "../maintenance/prune.ts";
import { complete } from "../settle/complete.ts";
import { enqueue } from "../submit/enqueue.ts";
import type { FlowJob } from "./flow.ts";
import { submitFlow } from "./submit-flow.ts";

let own: TestDatabase;
let deps: { database: ReturnType<typeof connectDatabase>; observe: ReturnType<typeof recordEvents>["observe"] };
beforeAll(async () => {
  own = await testDatabase();
  deps = {
    database: connectDatabase({ url: own.url, connectionsMax: 8, timeoutMs: 10_000 }),
    observe: recordEvents().observe,
  };
});
afterAll(async () => {
  await deps.database.close();
  await own.drop();
});
beforeEach(
  () =>
    own.database
      .sql`TRUNCATE atlasqueue.jobs, atlasqueue.claims, atlasqueue.idempotency_keys, atlasqueue.flows, atlasqueue.flow_jobs, atlasqueue.flow_edges, atlasqueue.outbox, atlasqueue.job_groups`,
);
const options = { idempotency_ttl_seconds: 60 };
const claimer = { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 60 };
const add = async () => {
  const [o] = await enqueue(deps, [submission()], options);
  return o && "job" in o ? o.job.id : "";
};
const job = (ties: Partial<FlowJob> = {}, request = {}): FlowJob => ({ ...submission(request), ...ties });
const advance = () => advanceAndAdmit(deps);
const statusOf = async (id: string) =>
  (await own.database.sql`SELECT status FROM atlasqueue.jobs WHERE id = ${id}`)[0]?.status as string;

/** Where it came in within the very millisecond in which it was let go, it is due at once. */
const letGo = ["queued", "scheduled"];

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
      await advance();
      const leases = await claimReady(deps, 7, claimer);
      if (leases.length > 0) idle = 0;
      order.push(...leases.map(({ id }) => id));
      await complete(
        deps,
        leases.map((lease) => ({ lease, result: null })),
      );
    }
    expect(new Set(order)).toEqual(new Set(ids));
    jobs.forEach(({ depends_on = [] }, at) =>
      depends_on.forEach((p) => expect(order.indexOf(ids[Number(p)] ?? "")).toBeLessThan(order.indexOf(ids[at] ?? ""))),
    );
    expect(order.at(-1)).toBe(ids.at(-1));
  }
  for (const t of ["flow_edges", "outbox"])
    expect(await own.database.sql`SELECT FROM ${own.database.sql(`atlasqueue.${t}`)}`).toHaveLength(0);
});

test("parents that settle while it is submitted", async () => {
  for (let round = 0; round < 60; round += 1) {
    const parent = await add();
    const leases = await claim(deps, [parent], claimer);
    const [outcome] = await Promise.all([
      submitFlow(deps, { jobs: [job({ depends_on: [parent] })] }, options),
      complete(
        deps,
        leases.map((lease) => ({ lease, result: null })),
      ),
      advance(),
    ]);
    if (outcome.kind !== "stored") throw new Error("refused");
    const [made] = outcome.outcomes;
    await advance();
    await advance();
    expect(letGo).toContain(await statusOf(made && "job" in made ? made.job.id : ""));
    expect(await own.database.sql`SELECT FROM atlasqueue.outbox`).toHaveLength(0);
  }
});

test("parents that are removed while it is submitted", async () => {
  for (let round = 0; round < 120; round += 1) {
    const parent = await add();
    if (round % 3 === 0) await own.database.sql`UPDATE atlasqueue.jobs SET has_children = true WHERE id = ${parent}`;
    await complete(
      deps,
      (await claim(deps, [parent], claimer)).map((lease) => ({ lease, result: null })),
    );
    if (round % 3 === 0) await advance();
    await own.database.sql`UPDATE atlasqueue.jobs SET finished_at = now() - interval '1 day' WHERE id = ${parent}`;
    const [outcome] = await Promise.all([
      submitFlow(deps, { jobs: [job({ depends_on: [parent] })] }, options),
      round % 2
        ? prune(deps, { succeededHours: 0, deadHours: 0 }, firstId, 100)
        : deleteFinished(deps, "default", [parent]),
    ]);
    if (outcome.kind === "unknown_parents") {
      expect(await statusOf(parent)).toBeUndefined();
      continue;
    }
    if (outcome.kind !== "stored") throw new Error("refused");
    const [made] = outcome.outcomes;
    await advance();
    await advance();
    expect(letGo, `round ${round}`).toContain(await statusOf(made && "job" in made ? made.job.id : ""));
  }
});
