import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { goodRun, wanted } from "../../test/good-run.ts";
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

const answers: Record<string, Operation["type"]> = { ask: "invoke", ok: "ok", refuse: "fail", lose: "info" };
const moves: Record<string, [f: string, status: string]> = {
  store: ["stored", "queued"],
  lease: ["leased", "running"],
  complete: ["completed", "succeeded"],
  requeue: ["requeued", "queued"],
  park: ["parked", "scheduled"],
};

/** `VERB JOB N WORD` as an operation. N is an attempt, WORD a token, a nonce, or what was left of the lease. */
function operation(step: string, at: number): object {
  const [verb = "", job = "", n = "1", word] = step.split(" ");
  const about = { tenant: "a", queue: "q", ...(job.startsWith("g") && { group: "g" }) };
  const [time, attempt] = [at * 1e8, Number(n)];
  const made = verb === "ok" && { job, created: true };
  const type = answers[verb] ?? (verb === "begin" ? "invoke" : "ok");
  if (verb in answers)
    return {
      process: job,
      type,
      f: "enqueue",
      time,
      value: { nonce: job, kind: "plain", via: "http", ...about, ...made },
    };
  if (verb === "begin" || verb === "return")
    return { process: `${job} ${word}`, type, f: "attempt", time, value: { job, attempt, worker: "w" } };
  const base = { process: "database", type: "info", time };
  if (verb === "left") return { ...base, f: verb, value: { job, status: n === "1" ? "succeeded" : n, why: word } };
  const [f, status] = moves[verb] ?? ["", ""];
  const was = verb === "lease" || verb === "store" ? "queued" : "running";
  const own = verb === "store" ? { nonce: word ?? job } : { token: word ?? `${job}${n}`, done_by_attempt: attempt };
  const lease_left_ms = Number(word ?? 900);
  return { ...base, f, value: { job, ...about, was, status, attempts: attempt, lease_left_ms, ...own } };
}

/** `add` enqueues a job, and `work` does it, in steps of 100 ms. */
function objections(story: string): Promise<string[]> {
  const steps = story
    .replaceAll(/add (\w+)/g, "ask $1, store $1, ok $1")
    .replaceAll(/work (\w+)/g, "lease $1, begin $1, return $1, complete $1, left $1")
    .split(", ");
  writeFileSync(file, steps.map((step, at) => `${JSON.stringify(operation(step, at))}\n`).join(""));
  return judgeOperations(file);
}

test.each([
  ["a group in order", "add g1, add g2, work g1, work g2"],
  [
    "a worker that outlives its lease",
    "add x, lease x, begin x, requeue x 1 -5, lease x 2, begin x 2 b, return x, return x 2 b, complete x 2, left x",
  ],
  [
    "a lease given back, and one parked",
    "add x, lease x, requeue x 0, lease x 1 other, park x 0, left x scheduled signal",
  ],
  ["answers that were lost, and a refusal", "ask x, store x, lose x, work x, ask y, ask z, refuse z"],
])("it does not object to %s", async (_, story) => {
  expect(await objections(story)).toEqual([]);
});

test.each([
  ["a lost job", "lost", "x was acknowledged and is not there", "add x"],
  ["a forgotten job", "lost", "x is queued at the end for no reason", "add x, left x queued"],
  ["a job without an enqueue", "from nowhere", "without an enqueue", "store x, work x"],
  ["work on no job", "from nowhere", "x was never stored", "begin x"],
  ["a job that was refused", "from nowhere", "its caller told it was not", "ask x, store x, refuse x, left x"],
  ["a job stored twice", "from nowhere", "x was stored twice", "add x, store twin 0 x, left x, left twin"],
  ["a group out of order", "order", "g2 started before g1, which came", "add g1, add g2, work g2, work g1"],
  ["a group side by side", "leases", "g2 was leased while g1", "add g1, add g2, lease g1, work g2, left g1 dead"],
  ["a lease taken too soon", "leases", "x was recovered 900.0 ms before", "add x, lease x, requeue x, work x"],
  ["two leases at once", "leases", "x was leased while it was held", "add x, lease x, lease x 2, left x"],
  [
    "a token used twice",
    "leases",
    "without a token of its own",
    "add x, lease x, requeue x 1 -5, lease x 2 x1, left x",
  ],
  [
    "an attempt that ends another's lease",
    "leases",
    "attempt 1 completed x, leased to attempt 2",
    "add x, lease x, requeue x 1 -5, lease x 2, complete x 1, left x",
  ],
  [
    "a lease that runs twice",
    "leases",
    "x ran twice at once",
    "add x, lease x, begin x, begin x 1 b, return x, left x",
  ],
])("it objects to %s", async (_, rule, said, story) => {
  const lines = await objections(story);
  expect(rulesOf(lines)).toContain(rule);
  expect(lines.join("\n")).toContain(said);
  expect(readFileSync(file, "utf8")).toContain(lines.find((line) => line.startsWith("    {"))?.trim());
});

test("a file without operations is refused", async () => {
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
  const jobs = ["done", "refused", "unanswered"].map(wanted);
  run.move("job-done", "queued", { nonce: "done" }).work("done");
  const done = { nonce: "done", job: "job-done", created: true };
  const refused = { nonce: "refused", refused: "ConflictError" };
  const told = [done, refused, { ...refused, nonce: "unanswered", unanswered: true }];
  run.call("submit", { via: "http", jobs }, { answers: told }).call("submit", { via: "http", jobs }, "dies");
  await exported(run);
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const all = lines.map((line) => JSON.parse(line) as Operation);
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
