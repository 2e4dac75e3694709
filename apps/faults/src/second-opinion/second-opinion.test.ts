import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { goodRun } from "../../test/good-run.ts";
import type { MadeUpRun } from "../../test/made-up-run.ts";
import { operations, type Operation } from "./operations.ts";
import { judgeOperations, rulesOf, writeOperations } from "./second-opinion.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "second-opinion-"));
  file = join(folder, "operations.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

const ms = 1e6;
const at = { tenant: "a", queue: "q" };
type Step = [f: string, process: Operation["process"], type: Operation["type"], value: object];
const enqueues = (process: number, nonce: string, more = {}): Step => [
  "enqueue",
  process,
  "invoke",
  { nonce, kind: "plain", via: "http", ...at, ...more },
];
const answered = (process: number, nonce: string, type: Operation["type"] = "ok", more = {}): Step => {
  const [f, , , value] = enqueues(process, nonce, more);
  return [f, process, type, { ...value, ...(type === "ok" && { job: nonce, created: true }) }];
};
const noted = (f: string, job: string, more = {}): Step => [f, "database", "info", { job, ...at, ...more }];
const stored = (job: string, more = {}) => noted("stored", job, { nonce: job, status: "queued", attempt: 0, ...more });
const leased = (job: string, attempt = 1, more = {}) =>
  noted("leased", job, { was: "queued", status: "running", attempt, token: `${job}-${attempt}`, ...more });
const ended = (f: string, status: string, job: string, attempt = 1, left = 900): Step =>
  noted(f, job, { was: "running", status, attempt, lease_left_ms: left, by_attempt: attempt });
const completed = (job: string, attempt = 1) => ended("completed", "succeeded", job, attempt);
const left = (job: string, status = "succeeded", why?: string) => noted("left", job, { status, why });
const runs = (process: number, job: string, type: "invoke" | "ok", attempt = 1): Step => [
  "attempt",
  process,
  type,
  { job, attempt, worker: "w" },
];
const enqueued = (job: string, more = {}) => [enqueues(0, job, more), stored(job, more), answered(0, job, "ok", more)];
const worked = (job: string) => [leased(job), runs(1, job, "invoke"), runs(1, job, "ok"), completed(job)];

/** Each step 100 ms after the one before. */
async function objections(steps: readonly Step[]): Promise<string[]> {
  const lines = steps.map(([f, process, type, value], step) =>
    JSON.stringify({ process, type, f, value, time: step * 100 * ms }),
  );
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  return judgeOperations(file);
}

const group = { group: "g" };
const [one, two] = [enqueued("one", group), enqueued("two", group)];
const ends = [left("one"), left("two")];

test("nothing is objected to in good histories", async () => {
  expect(await objections([...one, ...two, ...worked("one"), ...worked("two"), ...ends])).toEqual([]);
  // Recovered after its lease, as its worker ran on, and retried.
  const lost = [leased("x"), runs(1, "x", "invoke"), ended("requeued", "queued", "x", 1, -5), leased("x", 2)];
  const again = [runs(2, "x", "invoke", 2), runs(1, "x", "ok"), runs(2, "x", "ok", 2), completed("x", 2), left("x")];
  expect(await objections([...enqueued("x"), ...lost, ...again])).toEqual([]);
  // Given back with its attempt, parked for a signal.
  const given = [leased("x"), ended("requeued", "queued", "x", 0), leased("x", 1, { token: "other" })];
  const parked = [ended("parked", "scheduled", "x", 0), left("x", "scheduled", "waits for a signal")];
  expect(await objections([...enqueued("x"), ...given, ...parked])).toEqual([]);
  // Nobody knows what became of one, which was stored, and another, which was not; a third was refused.
  const unknown = [enqueues(0, "x"), stored("x"), answered(0, "x", "info"), ...worked("x"), left("x")];
  const [never, refused] = [enqueues(2, "y"), [enqueues(3, "z"), answered(3, "z", "fail")]];
  expect(await objections([...unknown, never, ...refused])).toEqual([]);
});

test.each<[what: string, rule: string, said: RegExp, steps: Step[]]>([
  ["a lost job", "lost", /x was acknowledged and is not there/, enqueued("x")],
  ["a forgotten job", "lost", /x is queued at the end for no reason/, [...enqueued("x"), left("x", "queued")]],
  ["a job of nobody", "from nowhere", /nobody enqueued it/, [stored("x"), ...worked("x"), left("x")]],
  ["work on no job", "from nowhere", /x was never stored/, [runs(0, "x", "invoke")]],
  [
    "a job that its caller was refused",
    "from nowhere",
    /its caller told it was not/,
    [enqueues(0, "x"), stored("x"), answered(0, "x", "fail"), left("x")],
  ],
  [
    "one job stored twice",
    "from nowhere",
    /x was stored twice/,
    [...enqueued("x"), stored("twin", { nonce: "x" }), left("x"), left("twin")],
  ],
  [
    "a group out of order",
    "order",
    /two started before one, which came first/,
    [...one, ...two, ...worked("two"), ...worked("one"), ...ends],
  ],
  [
    "a group side by side",
    "leases",
    /two was leased while one of its group was/,
    [...one, ...two, leased("one"), leased("two"), completed("one"), completed("two"), ...ends],
  ],
  [
    "a lease taken too soon",
    "leases",
    /x was recovered 900.0 ms before/,
    [...enqueued("x"), leased("x"), ended("requeued", "queued", "x"), leased("x", 2), completed("x", 2), left("x")],
  ],
  [
    "two leases at once",
    "leases",
    /x was leased while it was held/,
    [...enqueued("x"), leased("x"), leased("x", 2), completed("x", 2), left("x")],
  ],
  [
    "two leases under one token",
    "leases",
    /without a token of its own/,
    [
      ...[...enqueued("x"), leased("x"), ended("requeued", "queued", "x", 1, -5)],
      ...[leased("x", 2, { token: "x-1" }), completed("x", 2), left("x")],
    ],
  ],
  [
    "an attempt that ends another's lease",
    "leases",
    /attempt 1 completed x, leased to attempt 2/,
    [
      ...[...enqueued("x"), leased("x"), ended("requeued", "queued", "x", 1, -5), leased("x", 2)],
      ...[completed("x", 1), left("x")],
    ],
  ],
  [
    "one lease that runs twice",
    "leases",
    /x ran twice at once/,
    [
      ...[...enqueued("x"), leased("x"), runs(1, "x", "invoke"), runs(2, "x", "invoke")],
      ...[runs(1, "x", "ok"), runs(2, "x", "ok"), completed("x"), left("x")],
    ],
  ],
])("it objects to %s", async (_, rule, said, steps) => {
  const lines = await objections(steps);
  expect(rulesOf(lines)).toContain(rule);
  expect(lines.join("\n")).toMatch(said);
  // The operations are shown, as they are in the file.
  expect(readFileSync(file, "utf8")).toContain(lines.find((line) => line.startsWith("    {"))?.trim());
});

test("what is no history is no good one", async () => {
  writeFileSync(file, '{"process":1}\n');
  await expect(judgeOperations(file)).rejects.toThrow(`${file}:1 is no operation`);
});

const exported = (run: MadeUpRun): Promise<void> => {
  const last = new Map(run.moves.map(({ job, status }) => [job, status]));
  const reasons = new Map(run.final.open.map(({ id, why }) => [id, why]));
  const jobs = [...last].flatMap(([job, status]) => (status ? { job, status, why: reasons.get(job) ?? null } : []));
  return writeOperations(operations(run.lines, run.moves, jobs), file);
};

test("a history is exported with its outcomes, and each of its processes does one thing at a time", async () => {
  const run = goodRun();
  const [refused, unanswered] = ["refused", "unanswered"].map((nonce) => ({ nonce, refused: "ConflictError" }));
  const jobs = ["done", "refused", "unanswered"].map((nonce) => ({
    nonce,
    kind: "plain",
    ends: "any" as const,
    ...at,
  }));
  run.move("job-done", "queued", { nonce: "done" }).work("done");
  const done = { nonce: "done", job: "job-done", created: true };
  const asked = { via: "http", jobs: jobs };
  run.call("submit", asked, { answers: [done, refused ?? done, { ...(unanswered ?? done), unanswered: true }] });
  run.call("submit", { via: "http", jobs: jobs.slice(0, 1) }, "dies");
  await exported(run);
  const all = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Operation); // prettier
  const busy = new Set<unknown>();
  for (const { process, type } of all.filter((one) => typeof one.process === "number")) {
    expect(busy.has(process)).toBe(type !== "invoke");
    if (type === "invoke") busy.add(process);
    else if (type !== "info") busy.delete(process);
  }
  const outcomes = all.filter(({ f, type }) => f === "enqueue" && type !== "invoke").slice(-3);
  expect(outcomes.map(({ type }) => type)).toEqual(["ok", "fail", "info"]);
  expect(outcomes[0]?.value).toMatchObject({ nonce: "done", job: "job-done", created: true });
  expect(all.map(({ time }) => time)).toEqual(all.map(({ time }) => time).toSorted((a, b) => a - b));
  expect(all.filter(({ f }) => f === "recovered")).toHaveLength(1);
});

test("a made-up good run is good to both, and one that is spoiled is not", async () => {
  const run = goodRun();
  await exported(run);
  expect(await judgeOperations(file)).toEqual([]);
  run.submit("g3", { group: "g" }).submit("g4", { group: "g" }).work("g4").work("g3");
  await exported(run);
  expect(rulesOf(await judgeOperations(file))).toEqual(["order"]);
});
