import { expect, test } from "vitest";
import {
  diesAsking,
  givesBack,
  goodRun,
  itsAnswer,
  remote,
  renews,
  repeats,
  waits,
  waitsAndRenews,
  wanted,
} from "../../test/good-run.ts";
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
    "no answer came in time",
    // It gave up at last, and nobody knows what it was given.
    (run) =>
      waits(
        run,
        "info",
        (claim) => void claim().pass(1_200),
        () => givesBack(run, "info"),
      ),
  ],
  [
    "attempts-seen",
    "the answer with it took too long",
    // It asked again in time, and the answer to that came late.
    (run) =>
      waits(
        run,
        "info",
        (claim) => void claim().pass(300),
        () => repeats(run, itsAnswer, () => void run.pass(1_200)),
      ),
  ],
  [
    "attempts-seen",
    "no answer came in time",
    // It asked again in time, and was answered when the lease had ended.
    (run) =>
      waits(
        run,
        "info",
        (claim) => void claim().pass(300),
        () => {
          repeats(run, "info", () => void run.pass(3_000));
          repeats(run, { jobs: [] }, () => {});
        },
      ),
  ],
  [
    "attempts-seen",
    "no answer came in time",
    // A call by hand is all of its tries: the last one was answered when the lease had ended.
    (run) => {
      const asked = { worker: "remote-1-a-q", tenant: "a", to: "api-1" };
      run.call("process", { name: "remote-1", role: "remote", pid: 3 }, "dies", { process: "rig" });
      run.submit("waits");
      const meanwhile = () =>
        void run.move("job-waits", "running", { worker: asked.worker, token: "its-token" }).pass(3_500).lose("waits");
      run.call("lease", asked, { jobs: [] }, { process: "remote-1", meanwhile });
      run.work("waits");
    },
  ],
  [
    "attempts-seen",
    "its renewal took too long",
    // The answer came late in the worker's eyes, so it renews the lease before it starts.
    (run) => waitsAndRenews(run, 1_200),
  ],
  [
    "attempts-seen",
    "its renewal took too long",
    // Each of several renewals is given up soon.
    (run) =>
      waits(
        run,
        itsAnswer,
        (claim) => void claim(),
        () => renews(renews(run, 700, "info").pass(500), 200),
      ),
  ],
  [
    "attempts-seen",
    "no answer came in time",
    // It asked again, and was told that nothing was leased, before an API leased for the request it had given up.
    (run) =>
      waits(
        run,
        "info",
        () => {},
        (claim) => {
          repeats(run, { jobs: [] }, () => {});
          claim();
        },
      ),
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
    "attempts-seen",
    "no answer came in time",
    // What another process ran right after this worker had given it back says nothing of where this worker is.
    (run) => {
      run.submit("back").move("job-back", "running", { worker: "remote-1-a-q" });
      run.move("job-back", "queued", { attempts: 0 }).work("back");
      waits(
        run,
        "info",
        (claim) => void claim().pass(1_200),
        () => givesBack(run, "info"),
      );
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
    "recovery-time",
    "PostgreSQL was in trouble",
    (run) => {
      run.submit("late").move("job-late", "running").handle("late", "dies");
      run.fault("postgres-killed", ["postgres"], () => run.pass(500)).pass(3_000);
      run.call("sample", { of: "write_ms", name: "postgres", value: 2_800 }, {});
      run.pass(10_600).lose("late", { lease_left_ms: -14_100 }).work("late");
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
