import { eventually, forFile } from "@atlasqueue/harness";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { gate } from "../recorder.ts";
import { testApi, workersOf } from "../test-api.ts";
import { createClient, type Client, type HandlerFunction, type JsonObject, type WorkOptions } from "@atlasqueue/client";

const api = forFile(testApi);
let client: Client;
/** The paths that were asked for. */
const asked: string[] = [];
/** What an API says that knows of no `next`. */
let refuses = false;
beforeAll(async () => {
  const counting: typeof fetch = (input, init) => {
    asked.push(new URL(String(input)).pathname);
    if (!refuses || !String(init?.body).includes('"next"')) return fetch(input, init);
    const refused = { type: "/problems/validation", title: "Invalid", status: 422, detail: "must not have next" };
    return Promise.resolve(Response.json(refused, { status: 422 }));
  };
  client = createClient({ url: api.url, fetch: counting });
});

const groupOf = (queue: string, group: string, count: number) =>
  client.submitMany(Array.from({ length: count }, (_, n) => ({ type: "a", queue, group, payload: { n } })));

/** Runs all jobs of a queue, and says in which order, how many at once at most, and how often it leased. */
async function runAll(queue: string, count: number, options: WorkOptions) {
  const ran: string[] = [];
  let running = 0;
  let at_once = 0;
  asked.length = 0;
  const handler = async ({ n }: Record<string, unknown>, { job }: { job: { group: string | null } }) => {
    at_once = Math.max(at_once, (running += 1));
    await new Promise(setImmediate);
    running -= 1;
    ran.push(`${job.group} ${String(n)}`);
  };
  const told = workersOf(client)(queue, handler, options);
  await eventually(() => expect(told.events.filter(({ event }) => event === "job_settled")).toHaveLength(count));
  const leases = asked.filter((path) => path.endsWith("/lease")).length;
  await told.worker.stop();
  return { ran, at_once, leases };
}

test("the jobs of a group run in their order, each leased by the ack of the one before it", async () => {
  await groupOf("run", "g", 20);
  const { ran, at_once, leases } = await runAll("run", 20, { runMax: 100 });
  expect(ran).toEqual(Array.from({ length: 20 }, (_, n) => `g ${n}`));
  expect(at_once).toBe(1);
  // Each run is of a second at most.
  expect(leases).toBeLessThan(10);
});

test("a run keeps its slot and no other's; when it is over, the others have their turn", async () => {
  for (const group of ["a", "b", "c"]) await groupOf("turns", group, 6);
  const { ran, at_once } = await runAll("turns", 18, { runMax: 3, concurrency: 1 });
  expect(at_once).toBe(1);
  const of = (group: string) => ran.filter((one) => one.startsWith(group));
  for (const group of ["a", "b", "c"]) expect(of(group)).toEqual(Array.from({ length: 6 }, (_, n) => `${group} ${n}`));
  // Within the first nine each group has had a turn of three at most.
  for (const group of ["a", "b", "c"]) expect(ran.slice(0, 9).filter((one) => one.startsWith(group))).toHaveLength(3);
});

test("a job that fails ends its run, and its group waits for it", async () => {
  await groupOf("fails", "g", 3);
  const tries: unknown[] = [];
  const handler = ({ n }: Record<string, unknown>) => {
    tries.push(n);
    if (n === 1 && tries.filter((one) => one === 1).length === 1) throw new Error("not the first time");
  };
  workersOf(client)("fails", handler, { runMax: 100 });
  await eventually(() => expect(tries).toEqual([0, 1, 1, 2]));
});

test("an API that knows of no runs is asked without", async () => {
  await groupOf("earlier", "g", 3);
  refuses = true;
  onTestFinished(() => void (refuses = false));
  const { ran } = await runAll("earlier", 3, { runMax: 100 });
  expect(ran).toEqual(["g 0", "g 1", "g 2"]);
});

test("a worker that stops takes no more of the group", async () => {
  await groupOf("stops", "g", 3);
  const open = gate();
  const began: unknown[] = [];
  const handler = async ({ n }: Record<string, unknown>) => {
    began.push(n);
    await open.opened;
  };
  const { worker } = workersOf(client)("stops", handler, { runMax: 100 });
  await eventually(() => expect(began).toEqual([0]));
  const stopped = worker.stop();
  open.open();
  await stopped;
  expect(began).toEqual([0]);
  expect((await client.page({ queue: "stops", status: "running" })).items).toEqual([]);
});

test("a settlement that is repeated after the stop takes no more of the group", async () => {
  await groupOf("stops-away", "g", 3);
  let away = false;
  const { open, opened } = gate();
  const cut = createClient({
    url: api.url,
    fetch: (input, init) => (away ? Promise.reject(new TypeError("cut")) : fetch(input, init)),
  });
  const told = workersOf(cut)("stops-away", () => opened, { runMax: 100 });
  await eventually(() => expect(told.named("handler_start")).toHaveLength(1));
  away = true;
  open();
  await eventually(() => expect(told.named("api_unavailable").some(({ during }) => during === "settle")).toBe(true));
  const stopped = told.worker.stop();
  away = false;
  await stopped;
  expect(told.named("job_settled")).toHaveLength(1);
  expect(told.named("handler_start")).toHaveLength(1);
});

test("a next job that comes after the stop's deadline is given back, and not started", async () => {
  const [, next] = await groupOf("stops-late", "g", 2);
  const other = await client.submit({ type: "endless", queue: "stops-late" });
  const answer = gate();
  let settled = false;
  const late = createClient({
    url: api.url,
    async fetch(input, init) {
      const response = await fetch(input, init);
      if (settled || !String(input).endsWith("/settle")) return response;
      settled = true;
      await answer.opened;
      return response;
    },
  });
  const handler: HandlerFunction<JsonObject> = (_payload, { job, signal }) => {
    if (job.id !== other.id) return;
    // Aborted at the deadline; the farewell waits for the answer.
    signal.addEventListener("abort", answer.open);
    return new Promise(() => {});
  };
  const told = workersOf(late)("stops-late", handler, { runMax: 100 });
  await eventually(() => {
    expect(told.named("handler_start")).toHaveLength(2);
    expect(settled).toBe(true);
  });
  await told.worker.stop({ deadlineMs: 0 });
  expect(told.named("handler_start")).toHaveLength(2);
  for (const id of [next?.id ?? "", other.id])
    expect(await client.get(id)).toMatchObject({ status: "queued", attempts: 0, last_error: null });
});

test("runs and other jobs that end together are settled in two requests, however they alternate", async () => {
  const jobs = Array.from({ length: 20 }, (_, n) => ({
    type: "a",
    queue: "mixed",
    ...(n % 2 === 0 ? { group: `g${n}` } : {}),
  }));
  await client.submitMany(jobs);
  const { open, opened } = gate();
  const told = workersOf(client)("mixed", () => opened, { runMax: 100, concurrency: 20 });
  await eventually(() => expect(told.named("handler_start")).toHaveLength(20));
  asked.length = 0;
  open();
  await eventually(() => expect(told.named("job_settled")).toHaveLength(20));
  expect(asked.filter((path) => path.endsWith("/settle"))).toHaveLength(2);
});

test.each([0, 1.5, 1_001])("a runMax of %d is refused", (runMax) => {
  expect(() => client.work("refused", () => {}, { runMax })).toThrow("runMax must be an integer from 1 to 1000");
});

test("a batch of acks that a gateway refuses, and that goes again in halves, starts no next job twice", async () => {
  await Promise.all(["g", "h"].map((group) => groupOf("halved", group, 3)));
  let refused = 0;
  const gateway: typeof fetch = (input, init) => {
    const body = JSON.parse(String(init?.body ?? "{}")) as { acks?: unknown[] };
    if ((body.acks?.length ?? 0) < 2 || refused > 0) return fetch(input, init);
    refused += 1;
    return Promise.resolve(new Response("too large", { status: 413 }));
  };
  const [first, second] = [gate(), gate()];
  const ran: string[] = [];
  const handler = async ({ n }: Record<string, unknown>, { job }: { job: { group: string | null } }) => {
    ran.push(`${job.group} ${String(n)}`);
    await (n === 0 ? first : second).opened;
  };
  const behind = createClient({ url: api.url, fetch: gateway });
  workersOf(behind)("halved", handler, { runMax: 100, concurrency: 2, waitSeconds: 1 });
  await eventually(() => expect(ran).toHaveLength(2));
  first.open();
  await eventually(() => expect(ran.length).toBeGreaterThanOrEqual(4));
  second.open();
  await eventually(() => expect(new Set(ran).size).toBe(6));
  expect(refused).toBe(1);
  expect(ran.toSorted()).toEqual(["g 0", "g 1", "g 2", "h 0", "h 1", "h 2"]);
});

test("the next job of a settlement that gets no answer until the lease ends goes back with no attempt counted", async () => {
  await groupOf("unheard", "g", 2);
  const deaf: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (!String(init?.body).includes('"next"')) return answer;
    throw new TypeError("the connection was cut");
  };
  const ran: number[] = [];
  const handler = (_payload: unknown, { job }: { job: { attempts: number } }) => void ran.push(job.attempts);
  const options = { runMax: 2, concurrency: 1, leaseSeconds: 1, waitSeconds: 1 };
  workersOf(createClient({ url: api.url, fetch: deaf }))("unheard", handler, options);
  await eventually(() => expect(ran).toEqual([1, 1]));
});
