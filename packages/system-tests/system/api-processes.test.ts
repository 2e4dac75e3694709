// @module-tag nightly
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { commandFile, eventually, spawnProcess, type SpawnedProcess, forFile } from "@atlasqueue/harness";
import { inParallel, startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);

const slow_ms = 60_000;
const named = (of: SpawnedProcess, event: string) => of.logs.filter((line) => line["event"] === event);
const pids = ({ process }: Api) => named(process, "process_started").map(({ pid }) => Number(pid));
const isGone = (pid: number) => expect(() => readFileSync(`/proc/${pid}/stat`)).toThrow();

const haveStarted = (api: Api, count: number) =>
  eventually(() => expect(named(api.process, "api_started")).toHaveLength(count), { timeout_ms: slow_ms });

/** An API of so many processes, once all of them serve. */
async function startAll(count: number, env: Record<string, string> = {}): Promise<Api> {
  const api = await system.startApi({ API_PROCESSES: String(count), ...env });
  await haveStarted(api, count);
  return api;
}

/** On a connection of its own. "broken" when that was cut off. */
function ask(api: Api, path = "/livez", agent: Agent | false = false): Promise<number | "broken"> {
  return new Promise((resolve) => {
    const request = get(`${api.url}${path}`, { agent }, (answer) => {
      answer.resume().once("end", () => resolve(answer.statusCode ?? 0));
    });
    request.once("error", () => resolve("broken"));
  });
}

/** How many requests each process has answered, by its number. */
async function answered(api: Api, path: string): Promise<Record<string, number>> {
  const page = await (await fetch(`${api.url}/metrics`)).text();
  const line = new RegExp(
    `^atlasqueue_http_requests_total\\{.*path_template="${path}".*process="(\\d+)".*\\} (\\d+)`,
    "gm",
  );
  return Object.fromEntries([...page.matchAll(line)].map(([, process, count]) => [process, Number(count)]));
}

test("connections go to the processes in turn, and any of them shows the metrics of all", async () => {
  const api = await startAll(3);
  expect(await inParallel(300, 10, () => ask(api, "/v1/queues"))).toEqual(Array.from({ length: 300 }, () => 200));
  const counts = await answered(api, "/v1/queues");
  expect(Object.keys(counts)).toEqual(["0", "1", "2"]);
  // Round robin passes over a process that is still taking the connection before.
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(50);
  expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(300);

  const page = await (await fetch(`${api.url}/metrics`)).text();
  expect(page.match(/^# TYPE atlasqueue_http_requests_total /gm)).toHaveLength(1);
  expect(page.match(/^process_resident_memory_bytes\{process="\d"\} /gm)).toHaveLength(3);

  // What one connection asks stays with one process: it can be kept alive, and wait.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const before = await answered(api, "/v1/schedules");
  for (let count = 0; count < 10; count += 1) expect(await ask(api, "/v1/schedules", agent)).toBe(200);
  agent.destroy();
  expect([before, Object.values(await answered(api, "/v1/schedules"))]).toEqual([{}, [10]]);
});

test("one that is killed is replaced, and meanwhile the others serve", async () => {
  const api = await startAll(3);
  const [victim = 0] = pids(api);
  process.kill(victim, "SIGKILL");
  await eventually(() => expect(named(api.process, "process_died")).toMatchObject([{ number: 0, signal: "SIGKILL" }]));
  const statuses = new Set<number | "broken">();
  await eventually(
    async () => {
      statuses.add(await ask(api, "/readyz"));
      expect(named(api.process, "api_started")).toHaveLength(4);
    },
    { timeout_ms: slow_ms, interval_ms: 5 },
  );
  expect([...statuses]).toEqual([200]);
  // It writes that it has started before whoever started it has heard so.
  await eventually(async () => {
    const page = await (await fetch(`${api.url}/metrics`)).text();
    expect(page.match(/^process_start_time_seconds\{process="\d"\} /gm)).toHaveLength(3);
  });
});

test("one that hangs is passed over, killed and replaced; who was given to it is cut off, and does not wait for ever", async () => {
  const api = await startAll(2, { API_HANG_SECONDS: "4" });
  const [victim = 0] = pids(api);
  process.kill(victim, "SIGSTOP");
  const answers = await inParallel(50, 50, () => ask(api));
  expect(answers.filter((answer) => answer === 200).length).toBeGreaterThanOrEqual(49);
  expect(named(api.process, "process_hung")).toMatchObject([{ pid: victim }]);
  await haveStarted(api, 3);
  expect(await inParallel(20, 20, () => ask(api))).toEqual(Array.from({ length: 20 }, () => 200));
});

test("SIGTERM drains all of them together: what is in flight is answered, and it ends with 0", async () => {
  const api = await startAll(3);
  const id = await api.create({ type: "nobody.runs" });
  const waits = Array.from({ length: 9 }, () => ask(api, `/v1/jobs/${id}?wait_seconds=30`));
  const streams = await Promise.all(Array.from({ length: 3 }, () => listening(api)));
  api.process.kill("SIGTERM");
  expect(await api.process.waitForExit()).toEqual({ code: 0, signal: null });
  expect(await Promise.all(waits)).toEqual(waits.map(() => 200));
  for (const stream of streams) expect(await rest(stream)).toContain('"reason":"draining"');
  expect(named(api.process, "process_stopped")).toHaveLength(3);
  expect(api.process.errorLines).toEqual([]);
  for (const pid of pids(api)) isGone(pid);
});

test("told to stop while its processes are starting, it ends with 0 and leaves none", async () => {
  const started = await spawnProcess(commandFile, {
    args: ["api", "--processes", "3"],
    env: { DATABASE_URL: system.servers.postgres.url, REDIS_URL: system.servers.redis.url, API_PORT: "0" },
  });
  await started.waitForLine("process_started");
  started.kill("SIGTERM");
  expect(await started.waitForExit()).toEqual({ code: 0, signal: null });
  expect(started.errorLines).toEqual([]);
  for (const { pid } of named(started, "process_started")) isGone(Number(pid));
});

test("its processes finish and end when the one that started them is killed", async () => {
  const api = await startAll(2);
  const stream = await listening(api);
  api.process.kill("SIGKILL");
  expect(await rest(stream)).toContain('"reason":"draining"');
  await eventually(() => pids(api).forEach(isGone), { timeout_ms: slow_ms });
});

test("what keeps one of them from starting is one line and exit code 1", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const started = await spawnProcess(commandFile, {
    args: ["api"],
    env: { DATABASE_URL: system.servers.postgres.url, API_PROCESSES: "2", API_PORT: String(port) },
  });
  expect(await started.waitForExit()).toEqual({ code: 1, signal: null });
  expect(started.errorLines).toEqual([expect.stringContaining(`127.0.0.1:${port} is in use`)]);
  for (const { pid } of named(started, "process_started")) isGone(Number(pid));
  taken.close();
});

/** A stream of events that has begun. */
async function listening(api: Api): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const { body } = await fetch(`${api.url}/v1/events`);
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  return reader;
}

async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += new TextDecoder().decode(value);
  }
}
