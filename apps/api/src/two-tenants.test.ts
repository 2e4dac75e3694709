import type { Scope } from "@atlasqueue/contract";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../test/guarded-app.ts";
import { openRoutes, operatorRoutes, tenantRoutes, type Ids, type Probe } from "../test/routes-table.ts";

// Every route that there is, against two tenants. A new route has to be put into the table, or the first test fails.
const nobody = "00000000-0000-4000-8000-000000000000";

let api: Awaited<ReturnType<typeof guardedApp>>;
let intruder: string;
/** A running job, its lease, a token and a schedule of the other tenant. */
let theirs: Ids;
let tenant: string;
beforeAll(async () => {
  api = await guardedApp({ admin_secret: "correct horse battery" });
  tenant = await makeTenant(api.deps);
  const { token, id: token_id } = await makeToken(api.deps, ["admin"], tenant);
  intruder = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
  const job = { type: "secret", queue: "theirs", payload: { secret: true } };
  await api.post("theirs", job, { authorization: `Bearer ${token}` });
  const leased = await api.send("POST", "/v1/queues/theirs/lease", token, { worker_id: "theirs" });
  const { jobs } = (await leased.json()) as { jobs: { job: { id: string }; lease_token: string }[] };
  theirs = { job: jobs[0]?.job.id ?? "", lease_token: jobs[0]?.lease_token ?? "", token: token_id, schedule: "theirs" };
  const schedule = { name: "theirs", cron: "0 0 * * *", job: { type: "secret", payload: { secret: true } } };
  await api.send("POST", "/v1/schedules", token, schedule);
});
/** The intruder's own schedules, of the same name, would be found instead. */
afterEach(async () => void (await api.deps.database.sql`DELETE FROM schedules WHERE tenant <> ${tenant}`));
afterAll(() => api.stop());

const everything = async () => {
  const { sql } = api.deps.database;
  const rows = await sql`
    SELECT jobs::text AS row FROM jobs WHERE tenant = ${tenant}
    UNION ALL SELECT concat(id, ' ', expires_at) FROM tokens WHERE tenant = ${tenant}
    UNION ALL SELECT schedules::text FROM schedules WHERE tenant = ${tenant}
    UNION ALL SELECT queues::text FROM queues WHERE tenant = ${tenant} ORDER BY 1`;
  return rows.map(({ row }) => String(row));
};

const send = (route: string, probe: Probe, token?: string) => {
  const [method = "", template = ""] = route.split(" ");
  const path = template.replaceAll(/:\w+/g, (name) => probe.params?.[name.slice(1)] ?? nobody);
  return api.send(method, path, token, probe.body, { "x-request-id": "same", ...probe.headers });
};

test("every route is in the table, and the table has no others", () => {
  const routes = new Set(api.app.routes.filter(({ method }) => method !== "ALL").map((r) => `${r.method} ${r.path}`));
  expect([...openRoutes, ...operatorRoutes, ...Object.keys(tenantRoutes)].toSorted()).toEqual([...routes].toSorted());
});

test.each(openRoutes.filter((route) => route.startsWith("GET")))("%s needs no token", async (route) => {
  // There is no file of the documentation with the name that is asked for here.
  expect((await send(route, {})).status).toBe(route === "GET /docs/:file" ? 404 : 200);
});

test.each(operatorRoutes)("%s is the operator's alone", async (route) => {
  expect((await send(route, {})).status).toBe(401);
  const [reader, operator] = [await makeToken(api.deps, ["read"]), await makeToken(api.deps, ["admin"])];
  expect((await send(route, {}, reader.token)).status).toBe(403);
  expect((await send(route, {}, intruder)).status).toBe(403);
  expect((await send(route, {}, operator.token)).status).toBe(200);
});

describe.each(Object.entries(tenantRoutes))("%s", (route, { scope, foreign }) => {
  const others = (["submit", "read", "work", "admin"] as const).filter((one) => one !== scope && one !== "admin");

  test("is 401 without a token", async () => {
    expect((await send(route, foreign(theirs))).status).toBe(401);
  });

  test(`is 403 without the scope ${scope}`, async () => {
    const wrong = await makeToken(api.deps, others satisfies Scope[]);
    const response = await send(route, foreign(theirs), wrong.token);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain(`\\"${scope}\\"`);
    const right = await makeToken(api.deps, [scope]);
    expect([401, 403]).not.toContain((await send(route, foreign(theirs), right.token)).status);
  });

  test("shows another tenant's things to nobody, and lets nobody touch them", async () => {
    const before = await everything();
    const probe = foreign(theirs);
    const response = await send(route, probe, intruder);
    const text = await response.text();
    expect(text).not.toContain("secret");
    expect(await everything()).toEqual(before);
    if (probe.makes || (probe.params?.["id"] ?? probe.params?.["name"]) === undefined) {
      expect(response.status).toBeLessThan(300);
      for (const id of [theirs.job, theirs.token]) if (!probe.echoes) expect(text).not.toContain(id);
      return;
    }
    const unknown = await send(
      route,
      foreign({ job: nobody, lease_token: nobody, token: nobody, schedule: nobody }),
      intruder,
    );
    expect([response.status, unknown.status]).toEqual([404, 404]);
    expect(text).toBe(await unknown.text());
  });
});
