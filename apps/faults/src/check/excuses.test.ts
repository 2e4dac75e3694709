import { expect, test } from "vitest";
import { diesAsking, goodRun, itsAnswer, remote, waits, waitsAndRenews, wanted } from "../../test/good-run.ts";
import { madeUpRun, type MadeUpRun } from "../../test/made-up-run.ts";
import { check } from "./check.ts";

const brokenBy = async (run: MadeUpRun) => check(await run.facts()).filter(({ violations }) => violations > 0);

const excuses: readonly [name: string, kind: string, act: (run: MadeUpRun) => unknown][] = [
  ["attempts-seen", "its process died or stood still", () => {}],
  ["attempts-seen", "commits took too long", () => {}],
  ["attempts-seen", "its way to PostgreSQL was shut", () => {}],
  ["attempts-seen", "the table of jobs was locked", () => {}],
  ["group-overlap", "a handler outlived its lease", () => {}],
  ["attempts-seen", "its process died while it asked", diesAsking],
  [
    "attempts-seen",
    "no answer came in time",
    (run) => {
      run.call("process", { name: "remote-1", role: "remote", pid: 3 }, "dies", { process: "rig" });
      run.submit("cut").move("job-cut", "running", { worker: "remote-1" });
      run.fault("answers-lost", ["remote-1>api-1"]).pass(3_500).lose("cut").work("cut");
    },
  ],
  [
    "attempts-seen",
    "the answer with it took too long",
    (run) => waits(run, itsAnswer, (claim) => void claim().pass(1_200)),
  ],
  [
    "attempts-seen",
    "its renewal took too long",
    // The answer came late in the worker's eyes, so it renews the lease before it starts.
    (run) => waitsAndRenews(run, 1_200),
  ],
  [
    "run-whole",
    "it could not reach PostgreSQL as it started",
    (run) => {
      const start = () =>
        void run.call("process", { name: "api-1", role: "api", pid: 2 }, { code: 1, signal: null, victim: false });
      run.fault("answers-lost", ["api-1>postgres"], start);
    },
  ],
  [
    "attempts-seen",
    "its process got no processor",
    (run) => {
      const stood = { of: "standstill_ms", name: "remote-1", value: 600 };
      waits(run, itsAnswer, (claim) => void claim().call("sample", stood, {}).call("sample", stood, {}));
    },
  ],
  [
    "nothing-unexpected",
    "stored by a try without an answer, when a later one had been refused",
    (run) => {
      const end = { answers: [{ nonce: "x", refused: "ConflictError", unanswered: true }] };
      run.call("submit", { via: "http", jobs: [wanted("x")] }, end);
      run.move("job-x", "queued", { nonce: "x" }).work("x");
    },
  ],
  [
    "own-attempt",
    "the engine ended it with ProcessError",
    (run) => {
      run.submit("unloaded").move("job-unloaded", "running");
      run.move("job-unloaded", "failed", { error: "ProcessError: handlers.ts was not loaded within 30 s" });
      run.move("job-unloaded", "queued").work("unloaded");
    },
  ],
  [
    "recovery-time",
    "PostgreSQL was in trouble",
    (run) => {
      run.submit("late").move("job-late", "running").handle("late", "dies");
      run.fault("disk-full", ["postgres"], () => run.pass(16_000));
      run.lose("late", { lease_left_ms: -16_000 }).work("late");
    },
  ],
  [
    "runs-leased",
    "a crash of PostgreSQL forgot the claim",
    (run) =>
      run
        .submit("x", { queue: "free" }, { queue: "free" })
        .fault("postgres-killed", ["postgres"], () => void run.handle("x").pass(100))
        .work("x"),
  ],
];

test.each(excuses)("what %s lets pass because %s is counted", async (name, kind, act) => {
  const run = goodRun();
  act(run);
  const findings = check(await run.facts());
  expect(findings.filter((finding) => finding.violations > 0)).toEqual([]);
  expect(findings.find((finding) => finding.name === name)?.excused[kind]).toBe(1);
});

/** A job is stored, handled and acknowledged, twice under one key, and a failover forgets all of it. */
function forgetful(synchronous: boolean): MadeUpRun {
  const run = madeUpRun({ synchronous });
  const job = { nonce: "x", kind: "plain", tenant: "a", queue: "q", key: "k", ends: "any" as const };
  run.call("submit", { via: "http", jobs: [job] }, { answers: [{ nonce: "x", job: "job-x", created: true }] });
  run.call("submit", { via: "caller", row: "y", jobs: [wanted("y")] }, { answers: [] }).handle("x");
  run.call("settle", { ...remote, job: "job-x", token: "t", as: "complete" }, { answer: "applied" });
  run.pass(200).fault("failover", ["postgres"]);
  return run.submit("again", { key: "k" }).work("again");
}

test("a failover may lose what was just committed, if commits did not wait for the standby", async () => {
  const findings = check(await forgetful(false).facts());
  expect(findings.filter((finding) => finding.violations > 0)).toEqual([]);
  const counted = findings.flatMap(({ name, excused }) => Object.keys(excused).map(() => name));
  expect(counted).toEqual(["acknowledged-ends", "one-id-per-key", "callers-rows", "own-attempt", "runs-leased"]);
});

test("if they did, or it was long ago, it must not", async () => {
  const long = madeUpRun({ synchronous: false });
  long.call("submit", { via: "http", jobs: [wanted("x")] }, { answers: [{ nonce: "x", job: "job-x" }] });
  long.pass(10_000).fault("failover", ["postgres"]);
  expect((await brokenBy(long)).map(({ name }) => name)).toEqual(["acknowledged-ends"]);
  const names = (await brokenBy(forgetful(true))).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["acknowledged-ends", "one-id-per-key", "callers-rows", "own-attempt"]));
});
