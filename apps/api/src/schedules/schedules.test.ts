import { schedule, schedulePage, type Schedule } from "@atlasqueue/contract";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { pagesOf } from "../../test/pages-of.ts";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);

const send = (method: string, path: string, body?: unknown) =>
  api.send(method, `/v1/schedules${path}`, undefined, body);
const read = async (response: Response | Promise<Response>): Promise<Schedule> =>
  schedule.parse(await (await response).json());
const kindOf = async (response: Response) => ((await response.json()) as { type: string }).type;

const nightly = (name: string) => ({
  name,
  cron: "30 2 * * *",
  timezone: "Europe/Berlin",
  job: { type: "report.send", payload: { to: "a@b.c" }, queue: "mail" },
});

test("a schedule is created, shown with its next five runs, and deleted", async () => {
  const created = await send("POST", "", nightly("report"));
  expect(created.status).toBe(201);
  expect(created.headers.get("location")).toBe("/v1/schedules/report");
  const shown = schedule.parse(await created.json());
  expect(shown).toMatchObject({
    ...nightly("report"),
    catch_up: "one",
    job: { ...nightly("report").job, priority: 0 },
    paused: false,
    last_run: null,
    last_job_id: null,
  });
  expect(shown.next_runs).toHaveLength(5);
  for (const time of shown.next_runs) {
    expect(Date.parse(time)).toBeGreaterThan(Date.parse(shown.created_at));
    expect(new Date(time).toLocaleTimeString("de", { timeZone: "Europe/Berlin" })).toMatch(/^0[23]:[03]0:00$/);
  }
  expect(await read(send("GET", "/report"))).toEqual(shown);

  const deleted = await send("DELETE", "/report");
  expect([deleted.status, await deleted.text()]).toEqual([204, ""]);
  expect((await send("GET", "/report")).status).toBe(404);
  expect((await send("DELETE", "/report")).status).toBe(404);
});

test("POST never replaces: a taken name is 409", async () => {
  await send("POST", "", nightly("taken"));
  const again = await send("POST", "", { ...nightly("taken"), cron: "0 5 * * *" });
  expect([again.status, await kindOf(again)]).toEqual([409, "/problems/already-exists"]);
  expect(await read(send("GET", "/taken"))).toMatchObject({ cron: "30 2 * * *" });
});

test("PUT creates and replaces, and repeating the same PUT changes nothing", async () => {
  const { name: _name, ...body } = nightly("put");
  expect((await send("PUT", "/put", body)).status).toBe(201);
  const replaced = await send("PUT", "/put", { ...body, name: "put", cron: "*/15  *  * * *", catch_up: "all" });
  expect(replaced.status).toBe(200);
  const { updated_at: _updated, ...rest } = schedule.parse(await replaced.json());
  expect(rest).toMatchObject({ cron: "*/15 * * * *", catch_up: "all" });
  expect(await read(send("PUT", "/put", { ...body, cron: "*/15 * * * *", catch_up: "all" }))).toMatchObject(rest);
  expect((await send("PUT", "/put", { ...body, name: "other" })).status).toBe(422);
});

test("a paused schedule has no next runs until it is resumed; a replacement leaves it paused", async () => {
  await send("POST", "", nightly("held"));
  expect(await read(send("POST", "/held/pause"))).toMatchObject({ paused: true, next_runs: [] });
  expect((await send("POST", "/held/pause", {})).status).toBe(200);
  expect(await read(send("PUT", "/held", { ...nightly("held"), cron: "0 4 * * *" }))).toMatchObject({ paused: true });
  const resumed = await read(send("POST", "/held/resume"));
  expect(resumed).toMatchObject({ paused: false, cron: "0 4 * * *" });
  expect(resumed.next_runs).toHaveLength(5);
  expect((await send("POST", "/held/resume")).status).toBe(200);
  expect((await send("POST", "/unknown/pause")).status).toBe(404);
  expect((await send("POST", "/unknown/resume")).status).toBe(404);
});

test("the list is ordered by name, page by page", async () => {
  for (const name of ["page-a", "page-B", "page-c"]) await send("POST", "", nightly(name));
  const pages = await pagesOf(async (more) => schedulePage.parse(await (await send("GET", `?limit=2${more}`)).json()));
  for (const page of pages) expect(page.length).toBeLessThanOrEqual(2);
  const names = pages.flat().map((one) => one.name);
  expect(names).toEqual(names.toSorted());
  expect(names.filter((name) => name.startsWith("page"))).toEqual(["page-B", "page-a", "page-c"]);
  expect((await send("GET", "?cursor=a%20b")).status).toBe(400);
});

test("a tenant has at most a thousand, and those can still be replaced", async () => {
  const { sql } = api.deps.database;
  await sql`INSERT INTO atlasqueue.schedules (tenant, name, cron, timezone, catch_up, job, next_at, created_at, updated_at)
    SELECT 'default', 'many-' || n, '0 0 * * *', 'UTC', 'none', '{"type":"a","payload":{}}', now() + interval '1 day', now(), now()
    FROM generate_series(1, 1000) AS n`;
  const refused = await send("POST", "", nightly("one-more"));
  expect([refused.status, await kindOf(refused)]).toEqual([409, "/problems/too-many-schedules"]);
  expect((await send("PUT", "/many-7", nightly("many-7"))).status).toBe(200);
  await sql`DELETE FROM atlasqueue.schedules WHERE name LIKE 'many-%'`;
});

test("a payload over its limit is 413, as for a job", async () => {
  const job = { type: "a", payload: { x: "x".repeat(262_144) } };
  expect((await send("POST", "", { ...nightly("large"), job })).status).toBe(413);
});
