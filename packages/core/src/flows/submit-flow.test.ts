import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { countDrift } from "../counts/job-checks.ts";
import { foldCounts } from "../counts/fold.ts";
import { enqueueAll } from "../submit/enqueue-all.ts";
import { enqueue } from "../submit/enqueue.ts";
import { type Flow, type FlowJob, underOneKey } from "./flow.ts";
import { submitFlow } from "./submit-flow.ts";

const { deps, add } = engineHarness();
const options = { idempotency_ttl_seconds: 60 };

type Ties = Pick<FlowJob, "ref" | "depends_on" | "on_parent_failure">;
const job = (ties: Ties = {}, request: Parameters<typeof submission>[0] = {}): FlowJob => ({
  ...submission(request),
  ...ties,
});
const diamond = (): FlowJob[] => [
  job({ ref: "a" }),
  job({ ref: "b", depends_on: ["a"] }),
  job({ ref: "c", depends_on: ["a"], on_parent_failure: "wait" }),
  job({ depends_on: ["b", "c"], on_parent_failure: "run" }),
];
const store = async (flow: Flow) => {
  const outcome = await submitFlow(deps, flow, options);
  if (outcome.kind !== "stored") throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome.outcomes.map((one) => {
    if (!("job" in one)) throw new Error("no job");
    return { ...one.job, outcome: one.kind };
  });
};
const existing = async (request: Parameters<typeof submission>[0] = {}) => (await add(request))[0] ?? "";
const rows = () => deps.database.sql`SELECT * FROM atlasqueue.jobs ORDER BY id`;
const edges = async () => {
  const found = await deps.database
    .sql`SELECT parent, child, on_parent_failure FROM atlasqueue.flow_edges ORDER BY child, parent`;
  return found.map(({ parent, child, on_parent_failure }) => `${parent} ${child} ${on_parent_failure}`);
};
const countsAreTrue = async () => {
  while ((await foldCounts(deps, 1_000)) > 0);
  expect((await countDrift(deps, 10_000)).drifted).toEqual([]);
};

test("jobs that wait for others are blocked, and what they wait for is kept", async () => {
  const [a, b, c, d] = await store({ jobs: diamond() });
  if (!a || !b || !c || !d) throw new Error("no jobs");
  expect([a, b, c, d].map(({ status }) => status)).toEqual(["queued", "blocked", "blocked", "blocked"]);
  const described = await deps.database
    .sql`SELECT place, ref, on_parent_failure, parents FROM atlasqueue.flow_jobs ORDER BY place`;
  expect(described).toEqual([
    { place: 0, ref: "a", on_parent_failure: "cancel", parents: [] },
    { place: 1, ref: "b", on_parent_failure: "cancel", parents: [{ ref: "a", id: a.id }] },
    { place: 2, ref: "c", on_parent_failure: "wait", parents: [{ ref: "a", id: a.id }] },
    {
      place: 3,
      ref: null,
      on_parent_failure: "run",
      parents: [
        { ref: "b", id: b.id },
        { ref: "c", id: c.id },
      ],
    },
  ]);
  expect(await deps.database.sql`SELECT DISTINCT flow_id, tenant FROM atlasqueue.flow_jobs`).toEqual([
    { flow_id: a.flow_id, tenant: "default" },
  ]);
  await countsAreTrue();
});

test("the rows that are answered are those that are stored", async () => {
  const made = await store({
    jobs: [...diamond(), job({}, { group: "g", delay_seconds: 60 })],
    then: submission({ group: "g" }),
  });
  const stored = await rows();
  for (const { outcome: _outcome, ...one } of made) {
    const { group_seq: _seq, active_group_key: _holds, ...row } = stored.find(({ id }) => id === one.id) ?? {};
    expect(row).toEqual({ ...one, group_seq: undefined, active_group_key: undefined });
  }
});

test("`then` waits for all, however they end, and calls those without a ref by their ids", async () => {
  const made = await store({ jobs: [job({ ref: "a" }), job()], then: submission({ type: "done" }) });
  const [a, b, done] = made;
  expect(made.map(({ type, status }) => [type, status])).toEqual([
    ["noop", "queued"],
    ["noop", "queued"],
    ["done", "blocked"],
  ]);
  expect(await edges()).toEqual([a, b].map((one) => `${one?.id} ${done?.id} run`).toSorted());
  const [described] = await deps.database
    .sql`SELECT parents FROM atlasqueue.flow_jobs WHERE job_id = ${done?.id ?? ""}`;
  expect(described?.parents).toEqual([
    { ref: "a", id: a?.id },
    { ref: b?.id, id: b?.id },
  ]);
});

test("under a key, the same again is the same flow, and another is refused wherever it differs", async () => {
  const flow = { jobs: diamond(), then: submission() };
  const first = await store(underOneKey(flow, "k"));
  expect(first.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => "created"));
  const again = await store(underOneKey(flow, "k"));
  expect(again.map(({ outcome, id, flow_id }) => [outcome, id, flow_id])).toEqual(
    first.map(({ id, flow_id }) => ["replayed", id, flow_id]),
  );
  const [a, b, c, d] = diamond();
  if (!a || !b || !c || !d) throw new Error("no jobs");
  const others: Flow[] = [
    { jobs: flow.jobs },
    { jobs: flow.jobs, then: submission({ type: "other" }) },
    { ...flow, jobs: [a, { ...b, on_parent_failure: "run" }, c, d] },
    { ...flow, jobs: [a, { ...b, depends_on: [] }, c, d] },
    { ...flow, jobs: [a, b, c, { ...d, depends_on: ["c", "b"] }] },
    { ...flow, jobs: [a, b, c, { ...d, ref: "d" }] },
  ];
  for (const other of others)
    expect(await submitFlow(deps, underOneKey(other, "k"), options)).toMatchObject({ kind: "mismatch" });
  const plain = flow.jobs.map(({ request, tenant }) => ({ request, tenant }));
  expect(await enqueueAll(deps, underOneKey({ jobs: plain }, "k").jobs, options)).toMatchObject({ kind: "mismatch" });
  expect(await rows()).toHaveLength(5);
  expect(await deps.database.sql`SELECT DISTINCT flow_id FROM atlasqueue.flow_jobs`).toHaveLength(1);
});

test("a flow of which a job was removed is neither answered nor made anew", async () => {
  const flow = { jobs: diamond() };
  const made = await store(underOneKey(flow, "k"));
  await deps.database.sql`DELETE FROM atlasqueue.jobs WHERE id = ${made[3]?.id ?? ""}`;
  expect(await submitFlow(deps, underOneKey(flow, "k"), options)).toMatchObject({ kind: "mismatch" });
  expect(await rows()).toHaveLength(3);
});

test("a job that is unknown, or another tenant's, is no parent, and nothing is stored", async () => {
  const [outcome] = await enqueue(deps, [{ ...submission(), tenant: "other" }], options);
  const foreign = outcome && "job" in outcome ? outcome.job.id : "";
  const nobody = "01920000-0000-7000-8000-000000000000";
  const known = await existing();
  const jobs = [job({ depends_on: [known, nobody] }), job(), job({ depends_on: [foreign] })];
  expect(await submitFlow(deps, { jobs }, options)).toEqual({
    kind: "unknown_parents",
    places: [
      { at: 0, nth: 1, id: nobody },
      { at: 2, nth: 0, id: foreign },
    ],
  });
  expect(await rows()).toHaveLength(2);
  expect(await deps.database.sql`SELECT FROM atlasqueue.outbox`).toHaveLength(0);
});
