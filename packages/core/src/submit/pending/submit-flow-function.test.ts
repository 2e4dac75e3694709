import { forFile, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { advanceAndAdmit } from "../../../test/advance.ts";
import { engineHarness } from "../../../test/engine-harness.ts";
import { countDrift } from "../../counts/job-checks.ts";
import { foldCounts } from "../../counts/fold.ts";
import { submitFlow } from "../../flows/submit-flow.ts";
import { cancel } from "../../jobs/cancel.ts";
import { createQueue, type Queue } from "../../queue.ts";

const { deps, url, finish, statuses } = engineHarness();
const queue = forFile(async () => createQueue({ databaseUrl: url() }));

const submit = async (jobs: unknown, options: object = {}): Promise<string[]> => {
  const rows = await deps.database.sql<{ id: string }[]>`
    SELECT unnest(atlasqueue.submit_flow(${JSON.stringify(jobs)}::text::json, ${JSON.stringify(options)}::text::jsonb)) AS id`;
  return rows.map(({ id }) => id);
};
const succeed = async (id: string): Promise<void> => {
  await finish(id);
  await advanceAndAdmit(deps);
};

const fields = {
  payload: { n: 1 },
  priority: 3,
  max_attempts: 2,
  timeout_seconds: 9,
  expires_in: 60,
  tags: ["a", "b"],
};
const backoff = { kind: "fixed", base_seconds: 2 } as const;
const diamond = [
  { type: "a", ref: "a", ...fields },
  { type: "b", ref: "b", depends_on: ["a"], ...fields, backoff, group: "g" },
  { type: "c", ref: "c", depends_on: ["a"], on_parent_failure: "wait", delay_seconds: 60 },
  { type: "d", depends_on: ["c", "b"], on_parent_failure: "run", queue: "other" },
] as const;

/** All that is stored of the flows, without ids and times. */
async function stored(): Promise<unknown> {
  const { sql } = deps.database;
  const jobs = await sql`
    SELECT tenant, queue, type, status, priority, max_attempts, timeout_seconds, group_key, group_seq, backoff, payload, has_children,
           ready_at IS NULL AS is_blocked, run_at - created_at AS delay, expires_at - created_at AS lasts, tags, flow_id IS NULL AS is_alone
    FROM atlasqueue.jobs ORDER BY id`;
  const parts = await sql`
    SELECT tenant, flow_id IN (SELECT flow_id FROM atlasqueue.jobs) AS is_theirs, place, ref, on_parent_failure, cancelled_by, jsonb_path_query_array(parents::jsonb, '$[*].ref') AS refs,
           jsonb_array_length(parents::jsonb) = (SELECT count(*) FROM atlasqueue.jobs WHERE id::text = ANY (ARRAY(SELECT one ->> 'id' FROM json_array_elements(parents) AS one))) AS are_jobs
    FROM atlasqueue.flow_jobs ORDER BY place`;
  const edges = await sql`
    SELECT edge.tenant, parent.place AS parent, child.place AS child, edge.on_parent_failure, edge.failed
    FROM atlasqueue.flow_edges AS edge JOIN atlasqueue.flow_jobs AS parent ON parent.job_id = parent JOIN atlasqueue.flow_jobs AS child ON child.job_id = child
    ORDER BY parent, child`;
  return { jobs: [...jobs], parts: [...parts], edges: [...edges] };
}

test("a flow of SQL is stored as one of the API", async () => {
  const jobs = diamond.map(({ ref, depends_on, on_parent_failure, ...request }: (typeof diamond)[number] & Ties) => ({
    ...submission(request),
    ref,
    depends_on,
    on_parent_failure,
  }));
  await submitFlow(deps, { jobs }, { idempotency_ttl_seconds: 60 });
  const posted = await stored();
  await deps.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.flow_jobs, atlasqueue.flow_edges`;
  const ids = await submit(diamond);
  expect(ids).toEqual(ids.toSorted());
  expect(await stored()).toEqual(posted);
});
type Ties = { ref?: string; depends_on?: readonly string[]; on_parent_failure?: "wait" | "run" };

test("its jobs run as their parents end, `then` as the last, and the counts are true", async () => {
  const [a = "", b = "", last = ""] = await submit([{ type: "a" }, { type: "b" }], { then: { type: "last" } });
  expect(await statuses(a, b, last)).toEqual(["queued", "queued", "blocked"]);
  await succeed(a);
  expect(await cancel(deps, "default", b)).toMatchObject({ kind: "cancelled" });
  await advanceAndAdmit(deps);
  expect(await statuses(a, b, last)).toEqual(["succeeded", "cancelled", "queued"]);
  const [first = "", second = ""] = await submit([
    { type: "a", ref: "a" },
    { type: "b", group: "g", depends_on: ["a"] },
  ]);
  await succeed(first);
  expect(await statuses(first, second)).toEqual(["succeeded", "queued"]);
  while ((await foldCounts(deps, 1_000)) > 0);
  expect((await countDrift(deps, 10_000)).drifted).toEqual([]);
});

test("a payload is kept as it was written, and a list without edges is no flow", async () => {
  const text = '[{"type": "a", "payload": {"b": 1.0,  "a": 1e2}, "ref": "x"}, {"type": "b", "depends_on": []}]';
  await deps.database.sql`SELECT atlasqueue.submit_flow(${text}::text::json)`;
  const rows = await deps.database.sql`SELECT payload::text, flow_id FROM atlasqueue.jobs ORDER BY id`;
  expect([...rows]).toEqual([
    { payload: '{"b": 1.0,  "a": 1e2}', flow_id: null },
    { payload: "{}", flow_id: null },
  ]);
});

test("roots with a group or a unique key wait for the commit, and a held key is refused", async () => {
  const reject = { key: "k", on_conflict: "reject" };
  const flow = [
    { type: "a", ref: "a", unique: reject, group: "roots" },
    { type: "b", depends_on: ["a"] },
  ];
  const ids = await submit(flow);
  expect(await statuses(...ids)).toEqual(["blocked", "blocked"]);
  await advanceAndAdmit(deps);
  expect(await statuses(...ids)).toEqual(["queued", "blocked"]);
  await expect(submit(flow)).rejects.toMatchObject({ code: "23505", detail: "/jobs/0/unique" });
});

test("what another transaction commits first cancels a root, and its children with it", async () => {
  const unique = { key: "raced", on_conflict: "reject" } as const;
  const ids = await deps.database.sql.begin(async (tx) => {
    const jobs = await queue.submitFlowIn(tx, {
      jobs: [
        { type: "a", ref: "a", unique },
        { type: "b", depends_on: ["a"] },
      ],
    });
    await queue.submit({ type: "a", unique });
    return jobs;
  });
  await queue.announce(...ids);
  expect(await statuses(...ids.map(({ id }) => id))).toEqual(["cancelled", "cancelled"]);
});

test("submitFlowIn stores a flow if the transaction commits, and `announce` lets its roots go", async () => {
  const jobs = [
    { type: "a", ref: "a", group: "announced" },
    { type: "b", depends_on: ["a"] },
  ];
  const refused = deps.database.sql.begin(async (tx) => {
    await queue.submitFlowIn(tx, { jobs });
    throw new Error("not wanted");
  });
  await expect(refused).rejects.toThrow("not wanted");
  const made = await deps.database.sql.begin((tx) => queue.submitFlowIn(tx, { jobs, then: { type: "last" } }));
  await queue.announce(...made);
  expect(await statuses(...made.map(({ id }) => id))).toEqual(["queued", "blocked", "blocked"]);
  expect([...(await deps.database.sql`SELECT count(*)::int AS jobs FROM atlasqueue.jobs`)]).toEqual([{ jobs: 3 }]);
});

test("submitFlowIn names a field that it refuses, and the transaction goes on", async () => {
  const refusedAt = async (flow: Parameters<Queue["submitFlowIn"]>[1]): Promise<string> =>
    deps.database.sql.begin(async (tx) => {
      const error = await queue.submitFlowIn(tx, flow).catch((one: Error) => one);
      expect(await tx`SELECT 1 AS one`).toHaveLength(1);
      return String(error);
    });
  const existing = await queue.submit({ type: "a" });
  const waits = { type: "b", depends_on: ["a"] };
  const unique = { on_conflict: "reject" } as const;
  expect(await refusedAt({ jobs: [{ type: "b", depends_on: [existing.id] }] })).toContain(
    "/jobs/0/depends_on/0 must be",
  );
  expect(
    await refusedAt({
      jobs: [
        { type: "a", ref: "a" },
        { ...waits, unique },
      ],
    }),
  ).toContain("/jobs/1/unique must");
  expect(await refusedAt({ jobs: [{ type: "a" }], then: { type: "b", unique } })).toContain("/then/unique must");
  const keyed = { jobs: [{ type: "a", ref: "a" }, waits], idempotency_key: "k" };
  expect(await refusedAt(keyed)).toContain("/idempotency_key must be left out");
});

test("a chain of a thousand in reverse, and 9,900 edges, are stored", async () => {
  const list = (depends_on: (at: number) => number[]) =>
    Array.from({ length: 1_000 }, (_, at) => ({ type: "a", ref: `${at}`, depends_on: depends_on(at).map(String) }));
  const parents = Array.from({ length: 990 }, (_, at) => at);
  const flows = [list((at) => (at < 999 ? [at + 1] : [])), list((at) => (at < 990 ? [] : parents))];
  for (const jobs of flows) expect(await submit(jobs)).toHaveLength(1_000);
  expect([...(await deps.database.sql`SELECT count(*)::int AS edges FROM atlasqueue.flow_edges`)]).toEqual([
    { edges: 10_899 },
  ]);
});

test("a granted role submits flows of its tenant only, and PUBLIC none", async () => {
  const role = `submits_flows_${process.pid}`;
  const { sql } = deps.database;
  await sql.unsafe(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA atlasqueue TO ${role}`);
  const asRole = (options: string) =>
    sql.begin(async (tx) => {
      await tx.unsafe(`SET LOCAL ROLE ${role}`);
      return [
        ...(await tx`
        SELECT atlasqueue.submit_flow('[{"type": "a", "ref": "a"}, {"type": "b", "depends_on": ["a"]}]', ${options}::text::jsonb)`),
      ];
    });
  try {
    await expect(asRole("{}")).rejects.toMatchObject({ code: "42501" });
    await sql`INSERT INTO atlasqueue.tenants (tenant) VALUES ('acme')`;
    await sql`SELECT atlasqueue.grant_submit(${role}, 'acme')`;
    await asRole("{}");
    const rows =
      await sql`SELECT DISTINCT tenant FROM atlasqueue.jobs UNION ALL SELECT DISTINCT tenant FROM atlasqueue.flow_jobs`;
    expect([...rows]).toEqual([{ tenant: "acme" }, { tenant: "acme" }]);
    await expect(asRole('{"tenant": "default"}')).rejects.toMatchObject({ code: "42501", detail: "/tenant" });
  } finally {
    await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
});
