import { forFile } from "@atlasqueue/harness";
import { scopes } from "@atlasqueue/contract";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../test/guarded-app.ts";
import { firstOfStream } from "../test/first-of-stream.ts";
import { keysOf, requestAbout, type Things } from "../test/request-about.ts";
import type { Operation } from "./route/operation.ts";
import { operations } from "./routes.ts";
import { exampleName } from "./schedules/parts.ts";

// Every operation there is, against two tenants.
const nobody = "00000000-0000-4000-8000-000000000000";
const nobodys: Things = {
  job: nobody,
  lease_token: nobody,
  token: nobody,
  schedule: "nobodys",
  queue: "theirs",
  replay: nobody,
  flow: nobody,
};

/**
 * Operations without a token: what load balancers and people ask, and what has its own secret. They are listed again
 * here, as an operation that forgot its scope would look like one of them.
 */
const open = [
  "getHealth",
  "getLiveness",
  "getReadiness",
  "getReady",
  "getOpenApi",
  "getDocs",
  "getDocsFile",
  "getProblem",
  "openQueueProvision",
  "openSession",
  "getSession",
  "closeSession",
];

/** What shows all tenants, to a token of the default one. */
const operators = ["getMetrics"];

/** All that a token with the scope `metrics` may do. Every token may revoke itself. */
const monitoring = ["getQueueScaling", "getMetrics", "revokeToken"];

const isTenants = ({ scope, all_tenants }: Operation) => scope !== undefined && !all_tenants;
const routeOf = ({ method, path }: Operation) => `${method.toUpperCase()} ${path}`;

const api = forFile(() => guardedApp({ admin_secret: "correct horse battery" }));
let intruder: string;
/** A running job, its lease, a token, a schedule, a replay and a flow of the other tenant. */
let theirs: Things;
let tenant: string;
beforeAll(async () => {
  tenant = await makeTenant(api.deps);
  const { token, id: token_id } = await makeToken(api.deps, ["admin"], tenant);
  intruder = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
  const job = { type: "secret", payload: { secret: true } };
  const headers = { authorization: `Bearer ${token}` };
  await api.post("theirs", { ...job, queue: "theirs" }, headers);
  // Another tenant's key is a key like any other.
  for (const key of keysOf(operations))
    expect((await api.post(key, { ...job, queue: "others-of-theirs" }, headers)).status).toBe(201);
  const leased = await api.send("POST", "/v1/queues/theirs/lease", token, { worker_id: "theirs" });
  const { jobs } = (await leased.json()) as { jobs: { job: { id: string }; lease_token: string }[] };
  theirs = {
    job: jobs[0]?.job.id ?? "",
    lease_token: jobs[0]?.lease_token ?? "",
    token: token_id,
    schedule: exampleName,
    queue: "theirs",
    replay: "",
    flow: "",
  };
  const replay = { filter: { queue: "theirs" }, patch: { secret: true } };
  const created = await api.send("POST", "/v1/dlq/replays", token, replay);
  expect(created.status).toBe(201);
  theirs.replay = ((await created.json()) as { id: string }).id;
  const waiting = { ...job, queue: "others-of-theirs", depends_on: [theirs.job] };
  const submitted = await api.send("POST", "/v1/jobs/batch", token, { jobs: [waiting] }, { "idempotency-key": "flow" });
  expect(submitted.status).toBe(201);
  theirs.flow = ((await submitted.json()) as { flow_id: string }).flow_id;
  const schedule = { name: theirs.schedule, cron: "0 0 * * *", job: { type: "secret", payload: { secret: true } } };
  expect((await api.send("POST", "/v1/schedules", token, schedule)).status).toBe(201);
});
/** Otherwise the intruder's own schedules of the same name would be found. */
afterEach(async () => void (await api.deps.database.sql`DELETE FROM atlasqueue.schedules WHERE tenant <> ${tenant}`));

const everything = async () => {
  const { sql } = api.deps.database;
  const rows = await sql`
    SELECT jobs::text AS row FROM atlasqueue.jobs WHERE tenant = ${tenant}
    UNION ALL SELECT concat(id, ' ', expires_at) FROM atlasqueue.tokens WHERE tenant = ${tenant}
    UNION ALL SELECT operations::text FROM atlasqueue.operations WHERE tenant = ${tenant}
    UNION ALL SELECT schedules::text FROM atlasqueue.schedules WHERE tenant = ${tenant}
    UNION ALL SELECT queues::text FROM atlasqueue.queues WHERE tenant = ${tenant} ORDER BY 1`;
  return rows.map(({ row }) => String(row));
};

const send = (operation: Operation, things: Things, token?: string) => {
  const { method, path, body, headers } = requestAbout(operation, things);
  return api.send(method, path, token, body, { "x-request-id": "same", ...headers });
};

test("only what is meant to be open is, and only what is meant for the operator shows all tenants", () => {
  const ids = (which: (operation: Operation) => boolean) => operations.filter(which).map(({ id }) => id);
  expect(ids(({ scope }) => scope === undefined).toSorted()).toEqual(open.toSorted());
  expect(ids(({ all_tenants }) => all_tenants === true)).toEqual(operators);
  expect(ids(({ scope = [] }) => [scope].flat().includes("metrics")).toSorted()).toEqual(monitoring.toSorted());
});

test.each(operations.filter(({ id, method }) => open.includes(id) && method === "get"))(
  "$path needs no token",
  async (operation) => {
    // The documentation has no file, and no problem, with the name requested here.
    expect((await send(operation, theirs)).status).toBe(
      ["getDocsFile", "getProblem"].includes(operation.id) ? 404 : 200,
    );
  },
);

test.each(operations.filter(({ id }) => operators.includes(id)))("$path is the operator's", async (operation) => {
  expect((await send(operation, theirs)).status).toBe(401);
  const reader = await makeToken(api.deps, ["submit", "read", "work"]);
  const stranger = await makeToken(api.deps, ["metrics"], tenant);
  for (const { token } of [reader, stranger, { token: intruder }])
    expect((await send(operation, theirs, token)).status).toBe(403);
  for (const scope of ["metrics", "admin"] as const)
    expect((await send(operation, theirs, (await makeToken(api.deps, [scope])).token)).status).toBe(200);
});

const ofTenants = operations.filter(isTenants).map((operation) => [routeOf(operation), operation] as const);

describe.each(ofTenants)("%s", (_route, operation) => {
  const needed = [operation.scope ?? []].flat();
  const others = scopes.filter((one) => one !== "admin" && !needed.includes(one));

  test("is 401 without a token", async () => {
    expect((await send(operation, theirs)).status).toBe(401);
  });

  test(`is 403 without the scope ${needed.join(" or ")}`, async () => {
    const wrong = await makeToken(api.deps, others);
    const response = await send(operation, theirs, wrong.token);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain(needed.map((scope) => `\\"${scope}\\"`).join(" or "));
    for (const scope of needed) {
      const right = await makeToken(api.deps, [scope]);
      expect([401, 403]).not.toContain((await send(operation, theirs, right.token)).status);
    }
  });

  test("does not show another tenant's things, or let anyone touch them", async () => {
    const before = await everything();
    const { names } = requestAbout(operation, theirs);
    const response = await firstOfStream(await send(operation, theirs, intruder));
    const text = await response.text();
    expect(text).not.toContain("secret");
    expect(await everything()).toEqual(before);
    if (names === "nothing") {
      expect(response.status, text).toBeLessThan(300);
      for (const id of [theirs.job, theirs.token, theirs.replay, theirs.flow]) expect(text).not.toContain(id);
      return;
    }
    // Another tenant's things are answered like things that do not exist.
    const unknown = await send(operation, nobodys, intruder);
    expect(response.status).toBe(unknown.status);
    if (names === "in its path") expect(response.status).toBe(404);
    else expect(response.status, text).toBeLessThan(300);
    const timeless = (said: string) => said.replace(/"waited_ms":\d+/, '"waited_ms":0');
    expect(timeless(text.replaceAll(theirs.job, nobody))).toBe(timeless(await unknown.text()));
  });
});

test("another tenant's job is no parent: it is refused like one that does not exist, and not touched", async () => {
  const before = await everything();
  const refusalOf = async (path: string, body: object, about: string) => {
    const headers = { "x-request-id": "same", "idempotency-key": `waits for ${about}` };
    const response = await api.send("POST", path, intruder, body, headers);
    expect(response.status).toBe(422);
    return (await response.text()).replaceAll(about, "");
  };
  const [job, unknown] = [theirs.job, nobody].map((id) => ({ type: "x", depends_on: [id] }));
  const bodies = [
    ["/v1/jobs", job, unknown],
    ["/v1/jobs/batch", { jobs: [job] }, { jobs: [unknown] }],
  ] as const;
  for (const [path, foreign, absent] of bodies)
    expect(await refusalOf(path, foreign ?? {}, theirs.job)).toBe(await refusalOf(path, absent ?? {}, nobody));
  expect(await everything()).toEqual(before);
  expect(await api.deps.database.sql`SELECT FROM atlasqueue.outbox WHERE key = ${theirs.job}`).toHaveLength(0);
});
