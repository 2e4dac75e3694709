import type { Socket } from "node:net";
import { createToken } from "@atlasqueue/core/internal";
import { eventually, forFile, httpReceiver, spawnProcess, testDatabase, type Answer } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { ndjson, socketPair } from "../../test/inputs.ts";
import { inLines, runCli, silentApi } from "../../test/run-cli.ts";
import { mainFile } from "../../test/run-start.ts";

const database = forFile(testDatabase);
const api = forFile(() => silentApi({ DATABASE_URL: database.url }));

async function submit(args: string[], url = api.url, { token, stdin }: { token?: string; stdin?: Socket } = {}) {
  const env = { ATLASQUEUE_URL: url, ATLASQUEUE_TOKEN: token };
  if (!stdin) return inLines(await runCli(["submit", ...args], env));
  const process = await spawnProcess(mainFile, { args: ["submit", ...args], env, stdin });
  const { code } = await process.waitForExit(15_000);
  return { code, stdout: process.lines, stderr: process.errorLines, result: process.logs[0] };
}

const aJob = (status = "queued") => ({ id: "0199c8f0-0000-7000-8000-000000000001", status });
const answer = (status: number, body: unknown, headers = {}): Answer => ({
  status,
  headers,
  body: JSON.stringify(body),
});

test("one job, with all its options; the same key again is already there, a different body is refused", async () => {
  const args = [
    "demo.echo",
    '{"a":1}',
    "--key",
    "one",
    "--queue",
    "slow",
    "--priority",
    "-5",
    "--max-attempts",
    "2",
    "--expires-in",
    "60",
    "--tag",
    "b",
    "--tag",
    "a",
  ];
  const first = await submit([...args, "--json"]);
  expect(first.code).toBe(0);
  expect(first.result).toMatchObject({
    outcome: "created",
    idempotency_key: "one",
    job: {
      type: "demo.echo",
      payload: { a: 1 },
      queue: "slow",
      priority: -5,
      max_attempts: 2,
      tags: ["b", "a"],
      expires_at: expect.any(String) as string,
    },
  });
  const again = await submit(args);
  expect(again).toMatchObject({ code: 0, stderr: [] });
  expect(again.stdout[0]).toMatch(/^already there/);
  const other = await submit(["noop", "--key", "one"]);
  expect(other.code).toBe(1);
  expect(other.stderr).toEqual([expect.stringMatching(/^422 /)]);
});

test("without a key a random one is made and printed", async () => {
  const { stdout, code } = await submit(["noop", "--delay", "60"]);
  expect(code).toBe(0);
  expect(stdout).toEqual([
    expect.stringMatching(/^created +[0-9a-f-]{36}$/),
    expect.stringMatching(/^key +[0-9a-f-]{36}$/),
    expect.stringMatching(/^status +scheduled$/),
  ]);
});

test("an API that checks tokens is sent ATLASQUEUE_TOKEN, by --wait too", async () => {
  const guarded = await silentApi({ DATABASE_URL: database.url, AUTH: "required" });
  onTestFinished(() => guarded.stop());
  const wish = { tenant: "default", name: "cli", scopes: ["submit", "read"] as const };
  const made = await createToken({ database: database.database, observe: () => {} }, wish);
  const token = made.kind === "created" ? made.token : "";
  const refused = await submit(["noop", "--wait", "0"], guarded.url);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toEqual([expect.stringMatching(/^401 /)]);
  const waited = await submit(["noop", "--wait", "0"], guarded.url, { token });
  expect(waited.stdout[0]).toMatch(/^created/);
  expect(waited.stderr).toEqual([expect.stringContaining("is not finished")]);
});

test.each([
  ["succeeded", 0],
  ["dead", 1],
  ["cancelled", 1],
])("--wait prints the final job; %s is exit code %i", async (status, code) => {
  let looks = 0;
  const receiver = await httpReceiver(({ method }) => {
    if (method === "POST") return answer(201, aJob());
    looks += 1;
    return answer(200, aJob(looks < 3 ? "running" : status));
  });
  onTestFinished(() => receiver.close());
  const waited = await submit(["noop", "--wait", "10", "--json"], receiver.url);
  expect(waited).toMatchObject({ code, result: { job: { status } } });
  expect(looks).toBe(3);
});

test("--wait gives up at its end with one line", async () => {
  const { code, stderr } = await submit(["noop", "--wait", "0.2"]);
  expect(code).toBe(1);
  expect(stderr).toEqual([expect.stringMatching(/is not finished after 0.2 s: it is queued$/)]);
});

test("bad lines are named and the others submitted; the same file again creates nothing", async () => {
  const file = ndjson(
    '{"type":"noop","payload":{"n":1}}',
    "not json",
    "",
    '{"type":"noop","payload":{"n":2},"idempotency_key":"own-key"}',
    '{"type":"noop","max_attempts":99}',
    '{"type":"noop","surprise":1}',
  );
  const first = await submit(["--file", file, "--json"]);
  expect(first).toMatchObject({
    code: 1,
    result: { lines: 5, created: 2, already_there: 0, refused: 3, gave_up: null },
  });
  expect(first.result?.refusals).toEqual([
    { line: 2, reason: expect.stringContaining("not JSON") },
    { line: 5, reason: expect.stringContaining("/max_attempts must be an integer from 1 to 25; got 99") },
    { line: 6, reason: expect.stringContaining("/surprise is not a field of this request") },
  ]);
  const again = await submit(["--file", file]);
  expect(again.code).toBe(1);
  expect(again.stdout[0]).toBe("jobs.ndjson: 5 lines: 0 created, 2 already there, 3 refused");
  const renamed = await submit(["--file", file, "--key-prefix", "again", "--json"]);
  expect(renamed.result).toMatchObject({ created: 1, already_there: 1 });
});

test("of many refusals the first twenty are listed", async () => {
  const { stdout } = await submit(["--file", ndjson(...Array.from({ length: 30 }, () => "x")), "--concurrency", "7"]);
  expect(stdout[0]).toContain("30 refused");
  expect(stdout.slice(1).map((line) => Number(/^ {2}line (\d+):/.exec(line)?.[1]))).toEqual([
    ...Array.from({ length: 20 }, (_, at) => at + 1),
    Number.NaN,
  ]);
  expect(stdout.at(-1)).toBe("  … and 10 more");
});

test("lost connections, 503 and 429 are retried with the same key, no sooner than Retry-After says", async () => {
  const times: number[] = [];
  const answers: Answer[] = ["hang_up", answer(503, {}, { "retry-after": "1" }), answer(429, {}), answer(201, aJob())];
  const receiver = await httpReceiver(() => {
    times.push(performance.now());
    return answers[times.length - 1] ?? answer(500, {});
  });
  onTestFinished(() => receiver.close());
  const { result, code } = await submit(["--file", ndjson('{"type":"noop"}'), "--json"], receiver.url);
  expect({ result, code }).toMatchObject({ code: 0, result: { created: 1 } });
  const keys = receiver.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toHaveLength(4);
  expect(new Set(keys).size).toBe(1);
  expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(999);
});

test("a Retry-After longer than its patience ends it with the line to resume from", async () => {
  const receiver = await httpReceiver(() =>
    answer(503, { type: "/problems/x", title: "closed", detail: "closed" }, { "retry-after": "3600" }),
  );
  onTestFinished(() => receiver.close());
  const stopped = await submit(
    ["--file", ndjson('{"type":"noop"}', '{"type":"noop"}'), "--concurrency", "1"],
    receiver.url,
  );
  expect(stopped.code).toBe(1);
  expect(stopped.stdout).toEqual([
    "jobs.ndjson: 0 lines: 0 created, 0 already there, 0 refused",
    "stopped at line 1: 503 closed; the same command goes on where it stopped",
  ]);
  expect(receiver.requests).toHaveLength(1);
});

test("an API that is away ends it, while its input has more to come", async () => {
  const away = answer(503, { type: "/problems/x", title: "closed", detail: "closed" }, { "retry-after": "3600" });
  const receiver = await httpReceiver(({ body }) => (body.includes("second") ? away : answer(201, aJob())));
  onTestFinished(() => receiver.close());
  const { stdin, writer } = await socketPair();
  // Half of the third line: it is not submitted.
  const text = '{"type":"first"}\n{"type":"second"}\n{"type":"third"}';
  writer.write(text);
  const { code, result } = await submit(["--file", "-", "--json"], receiver.url, { stdin });
  expect(code).toBe(1);
  expect(result).toMatchObject({ lines: 1, created: 1, refused: 0, gave_up: { line: 2, reason: "503 closed" } });
  expect(receiver.requests).toHaveLength(2);
});

test("input that breaks off with an error is told, with how many of its jobs are there", async () => {
  const receiver = await httpReceiver(() => answer(201, aJob()));
  onTestFinished(() => receiver.close());
  const { stdin, writer } = await socketPair();
  const submitted = submit(["--file", "-", "--json"], receiver.url, { stdin });
  writer.write('{"type":"half"}\n\n{"type":"half"}\n{"type":"ha');
  await eventually(() => receiver.requests.length === 2, { timeout_ms: 15_000 });
  writer.resetAndDestroy();
  const { code, result, stderr } = await submitted;
  expect([code, stderr]).toEqual([1, []]);
  const gave_up = { line: 4, reason: "stdin cannot be read: read ECONNRESET" };
  expect(result).toMatchObject({ lines: 2, created: 2, refused: 0, gave_up });
});

test("no more requests are in flight than --concurrency says", async () => {
  let now = 0;
  let most = 0;
  const receiver = await httpReceiver(async () => {
    most = Math.max(most, (now += 1));
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return answer(201, aJob());
  });
  onTestFinished(() => receiver.close());
  const lines = Array.from({ length: 200 }, (_, n) => JSON.stringify({ type: "noop", payload: { n } }));
  const { result } = await submit(["--file", ndjson(...lines), "--concurrency", "4", "--json"], receiver.url);
  expect(result).toMatchObject({ created: 200 });
  expect(most).toBeLessThanOrEqual(4);
  const keys = receiver.requests.map(({ headers }) => String(headers["idempotency-key"]));
  expect(new Set(keys).size).toBe(200);
});

test("a missing file, or an API that is away, is one line", async () => {
  const missing = await submit(["--file", "/nowhere/jobs.ndjson"]);
  expect(missing).toMatchObject({ code: 1, stdout: [] });
  expect(missing.stderr).toEqual([expect.stringContaining("/nowhere/jobs.ndjson cannot be read")]);
  const away = await submit(["noop"], "http://127.0.0.1:1");
  expect(away).toMatchObject({ code: 1, stdout: [] });
  expect(away.stderr).toEqual([expect.stringContaining("http://127.0.0.1:1 cannot be reached")]);
});
