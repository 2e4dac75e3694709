import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname, join } from "node:path";
import { eventually, forFile, spawnProcess, testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { ndjson, socketPair } from "../../test/inputs.ts";
import { inLines, runCli, silentApi } from "../../test/run-cli.ts";
import { mainFile } from "../../test/run-start.ts";

const database = forFile(testDatabase);
const api = forFile(() => silentApi({ DATABASE_URL: database.url }));

async function importJobs(args: string[], { url = api.url, stdin }: { url?: string; stdin?: Socket } = {}) {
  const env = { ATLASQUEUE_URL: url };
  if (!stdin) return inLines(await runCli(["jobs", "import", ...args], env));
  const process = await spawnProcess(mainFile, { args: ["jobs", "import", ...args], env, stdin });
  const { code } = await process.waitForExit(60_000);
  return { code, stdout: process.lines, stderr: process.errorLines };
}

const count = async () => Number((await database.database.sql`SELECT count(*) FROM atlasqueue.jobs`)[0]?.["count"]);

test("a file of ten thousand lines is stored once, and again nothing is", { tags: ["slow"] }, async () => {
  const path = ndjson(...Array.from({ length: 10_000 }, (_, n) => JSON.stringify({ type: "row", payload: { n } })));
  const before = await count();
  const first = await importJobs([path]);
  expect(first).toMatchObject({
    code: 0,
    stdout: ["jobs.ndjson: 10000 lines: 10000 created, 0 already there, 0 refused"],
  });
  expect((await importJobs([path])).stdout[0]).toContain("0 created, 10000 already there");
  expect((await count()) - before).toBe(10_000);
});

test("refused lines are told by their numbers, all of them in a file, and do not stop the others", async () => {
  const path = ndjson('{"type":"a"}', "not json", "", '{"type":"a","priority":1.5}', '{"type":"b"}');
  const refused = join(dirname(path), "refused.ndjson");
  const { code, stdout } = await importJobs([path, "--refused", refused, "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout[0] ?? "")).toMatchObject({ lines: 4, created: 2, refused: 2, gave_up: null });
  const told = readFileSync(refused, "utf8").trim().split("\n");
  expect(told.map((line) => JSON.parse(line) as unknown)).toEqual([
    { line: 2, reason: expect.stringContaining("not JSON") },
    { line: 4, reason: expect.stringContaining("/priority must be an integer") },
  ]);
});

test("input that breaks off with an error is told, with how many of its jobs are there", async () => {
  const { stdin, writer } = await socketPair();
  const before = await count();
  const imported = importJobs(["-", "--json"], { stdin });
  writer.write('{"type":"half"}\n\n{"type":"half"}\n{"type":"ha');
  await eventually(async () => expect((await count()) - before).toBe(2), { timeout_ms: 60_000 });
  writer.resetAndDestroy();
  const { code, stdout, stderr } = await imported;
  expect([code, stderr]).toEqual([1, []]);
  const gave_up = { line: 4, reason: "stdin cannot be read: read ECONNRESET" };
  expect(JSON.parse(stdout[0] ?? "")).toMatchObject({ lines: 2, created: 2, refused: 0, gave_up });
});

test("a file that cannot be read from the start is told by its name", async () => {
  const folder = dirname(ndjson());
  const { code, stdout } = await importJobs([folder]);
  expect(code).toBe(1);
  expect(stdout[0]).toContain("0 created");
  expect(stdout[1]).toContain(`stopped at line 1: ${folder} cannot be read: EISDIR`);
});

test("an API that refuses all ends it, while its input has more to come", async () => {
  const closed = await silentApi({ DATABASE_URL: database.url, AUTH: "required" });
  onTestFinished(() => closed.stop());
  const { stdin, writer } = await socketPair();
  writer.write('{"type":"a"}\n');
  const { code, stdout } = await importJobs(["-"], { url: closed.url, stdin });
  expect(code).toBe(1);
  expect(stdout[1]).toMatch(/^stopped at line 1: 401 .*set ATLASQUEUE_TOKEN/);
});

test("a file that is not there, or a report that cannot be written, is one line", async () => {
  expect(await importJobs(["/nowhere/jobs.ndjson"])).toMatchObject({
    code: 1,
    stderr: [expect.stringContaining("cannot be read")],
  });
  const path = ndjson('{"type":"a"}');
  expect(await importJobs([path, "--refused", "/nowhere/refused"])).toMatchObject({
    code: 1,
    stderr: [expect.stringContaining("cannot be written")],
  });
});
