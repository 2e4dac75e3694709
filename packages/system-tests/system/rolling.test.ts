// @module-tag slow
import type { Job } from "@atlasqueue/contract";
import { expect, onTestFinished, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);

/**
 * What a coming version may do to the schema while this one runs: every table gets a column that may be null, one with a
 * default and an index, and there is a table more.
 */
async function expandSchema(): Promise<void> {
  const { sql } = system;
  const tables = await sql<{ name: string; key: string }[]>`
    SELECT relname AS name, (SELECT attname FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum = 1) AS key
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'atlasqueue'::regnamespace AND relname <> 'migrations' ORDER BY relname`;
  expect(tables.length).toBeGreaterThan(15);
  for (const { name, key } of tables)
    await sql.begin(async (tx) => {
      await tx`ALTER TABLE ${tx(`atlasqueue.${name}`)} ADD COLUMN coming text`;
      await tx`ALTER TABLE ${tx(`atlasqueue.${name}`)} ADD COLUMN coming_flag boolean NOT NULL DEFAULT false`;
      await tx`CREATE INDEX ${tx(`${name}_coming`)} ON ${tx(`atlasqueue.${name}`)} (coming, ${tx(key)})`;
    });
  // Read together with a table that does not have it.
  await sql`ALTER TABLE atlasqueue.queue_changes ADD COLUMN coming_total int NOT NULL DEFAULT 0`;
  await sql`CREATE TABLE atlasqueue.coming (id uuid PRIMARY KEY, job_id uuid NOT NULL)`;
}

/** Calls whichever APIs are ready, as a Service does, from several connections, until told to stop. */
function keepCalling(ready: () => readonly Api[]) {
  const ids: string[] = [];
  const answers = new Map<string, number>();
  let calls = 0;
  let on = true;
  const call = async (what: string, ask: (api: Api) => Promise<Response>): Promise<Response | undefined> => {
    const apis = ready();
    const api = apis[(calls += 1) % apis.length];
    if (!api) throw new Error("no API is ready");
    const count = (outcome: string) => answers.set(outcome, (answers.get(outcome) ?? 0) + 1);
    try {
      const response = await ask(api);
      count(`${what} ${response.status}`);
      return response;
    } catch (error) {
      count(`${what} ${String((error as Error).cause ?? error)}`);
      return undefined;
    }
  };
  const lane = async () => {
    while (on) {
      const made = await call("submit", (api) => api.submit({ type: "demo.sleep", payload: { ms: 300 } }));
      if (!made) continue;
      const { id } = (await made.json()) as Job;
      ids.push(id);
      // These are under way whenever an API is told to stop.
      await call("wait", (api) => fetch(`${api.url}/v1/jobs/${id}?wait_seconds=2`));
      for (const path of ["queues", "overview", "jobs?limit=5", "dlq", `jobs/${id}/attempts`])
        await call("read", (api) => fetch(`${api.url}/v1/${path}`));
      const later = await call("submit", (api) => api.submit({ type: "noop", queue: "unserved", group: "a" }));
      if (!later) continue;
      const act = `jobs/${((await later.json()) as Job).id}`;
      for (const verb of ["cancel", "retry", "cancel"])
        await call(verb, (api) => fetch(`${api.url}/v1/${act}/${verb}`, { method: "POST" }));
    }
  };
  const lanes = Promise.all(Array.from({ length: 6 }, lane));
  const stop = async () => {
    on = false;
    await lanes;
  };
  onTestFinished(stop);
  return { ids, answers, stop };
}

test("a newer schema under the running version, then new processes one by one: no call fails, no attempt is spent", async () => {
  const two = <T>(start: () => Promise<T>) => Promise.all([start(), start()]);
  const [before, workers] = await Promise.all([two(() => system.startApi()), two(() => system.startWorker())]);
  let apis: Api[] = before;
  const load = keepCalling(() => apis);
  const more = async () => {
    const enough = load.ids.length + 12;
    await eventually(() => expect(load.ids.length).toBeGreaterThan(enough));
  };
  await more();

  // First the migrations: all that runs was made before them, with its statements prepared.
  await expandSchema();

  for (const old of before) {
    const [next] = await Promise.all([system.startApi(), more()]);
    await eventually(async () => expect((await fetch(`${next.url}/readyz`)).status).toBe(200));
    apis = [...apis.filter((api) => api !== old), next];
    // Calls are under way to it, as when preStop is over.
    old.process.kill("SIGTERM");
    expect(await old.process.waitForExit()).toMatchObject({ code: 0 });
  }
  for (const old of workers) {
    await Promise.all([system.startWorker(), more()]);
    old.kill("SIGTERM");
    expect(await old.waitForExit()).toMatchObject({ code: 0 });
  }
  await more();
  await load.stop();

  expect([...load.answers.keys()].toSorted()).toEqual([
    "cancel 200",
    "read 200",
    "retry 200",
    "submit 201",
    "wait 200",
  ]);
  const states = () => system.sql<{ status: string; attempts: number; jobs: number }[]>`
    SELECT status, attempts, count(*)::int AS jobs FROM atlasqueue.jobs WHERE type = 'demo.sleep'
    GROUP BY status, attempts`;
  await eventually(async () =>
    expect([...(await states())]).toEqual([{ status: "succeeded", attempts: 1, jobs: load.ids.length }]),
  );
});
