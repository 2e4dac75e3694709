import { flowGraph, job, jobWithParents, leaseAnswer, type Problem } from "@atlasqueue/contract";
import { createStorageQuota } from "@atlasqueue/core/internal/http";
import { eventually, forFile } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../test/guarded-app.ts";

const api = forFile(() =>
  guardedApp((core) => ({
    storageQuota: createStorageQuota(core, { stored_bytes_per_tenant_max: 100_000 }),
  })),
);
let tenant: string;
let token: string;
beforeAll(async () => {
  tenant = await makeTenant(api.deps);
  token = (await makeToken(api.deps, ["read", "submit", "work"], tenant)).token;
});

let keys = 0;
const send = (method: string, path: string, body?: object, as = token) =>
  api.send(method, `/v1${path}`, as, body, { "idempotency-key": `children-${(keys += 1)}` });
const read = async (path: string) => (await send("GET", path)).json();
const leased = async (queue: string) => {
  const answer = await send("POST", `/queues/${queue}/lease`, { worker_id: "w" });
  const [held] = leaseAnswer.parse(await answer.json()).jobs;
  if (!held) throw new Error("nothing was leased");
  return { id: held.job.id, lease_token: held.lease_token };
};
const started = async (queue: string, fields: object = {}) => {
  expect((await send("POST", "/jobs", { type: "spawner", queue, ...fields })).status).toBe(201);
  return leased(queue);
};
const ack = ({ id, lease_token }: { id: string; lease_token: string }, more: object, as = token) =>
  send("POST", `/jobs/${id}/ack`, { lease_token, ...more }, as);
const problemOf = async (answer: Response) => {
  const { type, errors } = (await answer.json()) as Problem;
  return [answer.status, type, errors?.map(({ pointer, message }) => `${pointer} ${message}`)];
};
const count = async (queue: string) => ((await read(`/jobs?queue=${queue}`)) as { items: unknown[] }).items.length;

test("an ack adds jobs to the job's flow; the same ack again, in whatever case, is the same answer and adds nothing", async () => {
  const held = await started("adds");
  const children = [
    { ref: "part", type: "part", queue: "added" },
    { type: "sum", queue: "added", depends_on: ["part"] },
  ];
  const first = await ack(held, { result: { parts: 1 }, children });
  expect(first.status).toBe(200);
  const done = job.parse(await first.json());
  expect(done).toMatchObject({ status: "succeeded", result: { parts: 1 }, flow_id: expect.any(String) });
  const again = await ack({ ...held, lease_token: held.lease_token.toUpperCase() }, { children });
  expect([again.status, await again.json()]).toEqual([200, done]);
  const flow = flowGraph.parse(await read(`/flows/${done.flow_id}`));
  expect(flow.items.map(({ type, depends_on }) => [type, depends_on[0] ?? null])).toEqual([
    ["spawner", null],
    ["part", held.id],
    ["sum", held.id],
  ]);
  const part = await leased("added");
  expect((await ack(part, { children: [] })).status).toBe(200);
  await eventually(async () => expect((await leased("added")).id).toBe(flow.items[2]?.id));
});

test("with dependants_wait, what waits for the job waits for its children, and starts when they are over", async () => {
  const submitted = await send("POST", "/jobs/batch", {
    jobs: [
      { ref: "a", type: "a", queue: "waits" },
      { type: "last", queue: "waits", depends_on: ["a"] },
    ],
  });
  expect(submitted.status).toBe(201);
  const children = [{ type: "part", queue: "waits" }];
  expect((await ack(await leased("waits"), { children, dependants_wait: true })).status).toBe(200);
  const part = await leased("waits");
  expect(jobWithParents.parse(await read(`/jobs/${part.id}`)).type).toBe("part");
  expect((await ack(part, {})).status).toBe(200);
  await eventually(async () => {
    const { id } = await leased("waits");
    expect(jobWithParents.parse(await read(`/jobs/${id}`)).type).toBe("last");
  });
});

test("children that are no good are named, nothing is stored, and the job is still held", async () => {
  const held = await started("bad");
  const unique = { key: "k", on_conflict: "reject" };
  expect((await send("POST", "/jobs", { type: "x", queue: "bad-children", unique })).status).toBe(201);
  const child = { type: "x", queue: "bad-children" };
  const refusals: [object, number, string, unknown][] = [
    [{ children: [{ ...child, type: "" }] }, 422, "validation", [expect.stringMatching("^/children/0/type must be ")]],
    [
      { children: Array.from({ length: 1_001 }, () => child) },
      422,
      "validation",
      [expect.stringMatching("^/children must ")],
    ],
    [
      { children: [child, { ...child, unique }] },
      409,
      "unique-conflict",
      [expect.stringMatching("^/children/1/unique is held by")],
    ],
  ];
  for (const [more, status, type, errors] of refusals)
    expect(await problemOf(await ack(held, more))).toEqual([status, `/problems/${type}`, errors]);
  const circle = [
    { ...child, ref: "a", depends_on: ["b"] },
    { ...child, ref: "b", depends_on: ["a"] },
  ];
  expect((await ack(held, { children: circle })).status).toBe(422);
  const settle = await send("POST", "/leases/settle", { acks: [{ ...held, children: [child] }] });
  expect(settle.status).toBe(422);
  expect([await count("bad-children"), job.parse(await read(`/jobs/${held.id}`)).status]).toEqual([1, "running"]);
  expect((await ack(held, { children: [child] })).status).toBe(200);
});

test("under a lost lease nothing is added", async () => {
  const held = await started("lost");
  const stranger = { ...held, lease_token: "01920000-0000-4000-8000-000000000000" };
  const children = [{ type: "x", queue: "lost-children" }];
  expect((await problemOf(await ack(stranger, { children }))).slice(0, 2)).toEqual([409, "/problems/lease-lost"]);
  expect((await send("POST", `/jobs/${held.id}/nack`, { lease_token: held.lease_token, error: "x" })).status).toBe(200);
  expect((await ack(held, { children })).status).toBe(409);
  expect(await count("lost-children")).toBe(0);
});

test("another tenant's job is no parent, and another tenant's lease adds nothing", async () => {
  const other = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
  const theirs = job.parse(await (await send("POST", "/jobs", { type: "x" }, other)).json());
  const held = await started("tenants");
  const children = [{ type: "x", depends_on: [theirs.id] }];
  expect((await ack(held, { children })).status).toBe(422);
  expect((await ack(held, { children: [{ type: "x" }] }, other)).status).toBe(404);
  expect(await api.deps.database.sql`SELECT FROM atlasqueue.outbox WHERE key = ${theirs.id}`).toHaveLength(0);
  expect(jobWithParents.parse(await read(`/jobs/${held.id}`)).status).toBe("running");
});

test("a token that may not submit adds nothing by an ack, and acks as before", async () => {
  const worker = (await makeToken(api.deps, ["work"], tenant)).token;
  const held = await started("scopes");
  const refused = await ack(held, { children: [{ type: "x" }] }, worker);
  expect((await problemOf(refused)).slice(0, 2)).toEqual([403, "/problems/forbidden"]);
  expect((await ack(held, {}, worker)).status).toBe(200);
});

test("children count like any submission; an ack sent again is answered although there is no room any more", async () => {
  const [full, first] = [await started("full"), await started("full")];
  const payload = { fill: "x".repeat(60_000) };
  const children = [{ type: "x", queue: "filling", payload }];
  expect((await ack(first, { children })).status).toBe(200);
  // Measured now and then; meanwhile what is admitted is counted, and an ack that is refused changes nothing.
  const refused = await ack(full, { children });
  expect((await problemOf(refused)).slice(0, 2)).toEqual([429, "/problems/storage-full"]);
  expect((await ack(first, { children })).status).toBe(200);
  expect(await count("filling")).toBe(1);
});
