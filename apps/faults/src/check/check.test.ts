import { expect, test } from "vitest";
import { madeUpRun, type MadeUpRun } from "../../test/made-up-run.ts";
import { check } from "./check.ts";
import { invariants } from "./invariants.ts";

const brokenBy = async (run: MadeUpRun) =>
  check(await run.facts()).flatMap(({ name, first }) => first.map(({ evidence }) => ({ name, evidence })));

/** A day without a fault of ours: all that happens to jobs, and some that happens to programs. */
function goodRun(): MadeUpRun {
  const run = madeUpRun();
  run.submit("plain", { ends: "succeeded" }).work("plain");
  // Retried, then dead, replayed and succeeded.
  run.submit("retried").move("job-retried", "running").handle("retried", { ended: "threw" });
  run
    .move("job-retried", "failed", { error: "Error: no" })
    .move("job-retried", "queued")
    .move("job-retried", "running");
  run
    .handle("retried", { ended: "threw" })
    .move("job-retried", "dead", { dead_reason: "attempts_exhausted", error: "Error: no" });
  run.call("replay", { tenant: "a", jobs: ["job-retried"] }, { count: 1 });
  run.move("job-retried", "queued", { attempts: 0 }).work("retried");
  // A worker is killed before its handler has begun, and the job recovered.
  run.submit("lost").move("job-lost", "running", { worker: "worker-1-of-a" });
  run.fault("process-killed", ["worker-1"]);
  run.pass(3_500).lose("lost", { worker: "worker-1-of-a" }).work("lost");
  // Commits take so long that the lease ends before the answer of its claim.
  run.submit("slow").move("job-slow", "running").pass(1_500);
  run.call("sample", { of: "write_ms", name: "postgres", value: 1_400 }, {});
  run.pass(2_000).lose("slow").work("slow");
  // No answer gets to a worker for two thirds of its claim's lease.
  run.submit("shut");
  run.fault("answers-lost", ["worker-1>postgres"], () => {
    run.move("job-shut", "running").pass(2_000);
  });
  run.pass(1_500).lose("shut").work("shut");
  // Nor while somebody has the table for itself.
  run.submit("locked");
  run.fault("jobs-locked", ["postgres"], () => {
    run.move("job-locked", "running").pass(1_200);
  });
  run.pass(2_000).lose("locked").work("locked");
  // PostgreSQL ends itself on a full disk, and with it goes a claim that did not wait for the log.
  run.submit("room");
  run.fault("disk-full", ["postgres"], () => run.handle("room", "dies"));
  run.work("room");
  // The next of a group is leased as the one before it succeeds.
  run.submit("h1", { group: "h" }).submit("h2", { group: "h" }, { status: "blocked" }).work("h1").work("h2");
  // Given back with its attempt.
  run.submit("given").move("job-given", "running").move("job-given", "queued", { attempts: 0 }).work("given");
  // A frozen handler outlives its lease, and the next of its group begins beside it.
  run.submit("g1", { group: "g" }).submit("g2", { group: "g" }, { status: "blocked" }).move("job-g1", "running");
  run.handle("g1", { ended: "returned" }, () => {
    run.fault("process-frozen", ["worker-1"]);
    run.pass(4_000).move("job-g1", "dead", { dead_reason: "lease_lost", lease_left_ms: -10 });
    run.move("job-g2", "queued").work("g2");
  });
  run.final.open.push({ id: "job-g1", tenant: "a", status: "dead", why: null });
  run.final.dead_list = ["job-g1"];
  // A limit, and what waits for a stated reason.
  run.call("limit", { tenant: "a", queue: "q", concurrency: 2 }, { queue: "q" });
  run.submit("parked").move("job-parked", "running").move("job-parked", "scheduled", { attempts: 0 });
  run.final.open.push({ id: "job-parked", tenant: "a", status: "scheduled", why: "waits for a signal" });
  // Inside a caller's transaction, once kept and once rolled back.
  run.submit("kept", { via: "transaction", row: "kept" }).work("kept");
  run.final.rows.push("kept");
  const undone = { nonce: "undone", kind: "inside", tenant: "a", queue: "q", ends: "any" as const };
  run.call("submit", { via: "transaction", row: "undone", jobs: [undone] }, "fail");
  // One key, asked for twice.
  run.submit("keyed", { key: "k" }).work("keyed");
  const again = { ...undone, nonce: "again", kind: "unique", key: "k" };
  run.call(
    "submit",
    { via: "http", jobs: [again] },
    { answers: [{ nonce: "again", job: "job-keyed", created: false }] },
  );
  run.final.keys.push({ tenant: "a", key: "k", job: "job-keyed" });
  // A schedule's slot.
  run.call("schedule", { name: "tick", tenant: "a", queue: "q", every_ms: 60_000 }, { name: "tick" });
  run.move("job-tick", "queued", { nonce: "tick" }).work("tick");
  run.final.keys.push({ tenant: "a", key: "schedule:tick:2026-01-01T00:01:00.000Z", job: "job-tick" });
  // A rate, used up in two periods.
  run.call(
    "limit",
    { tenant: "a", queue: "rated", concurrency: null, rate: { limit: 2, period_ms: 1_000 } },
    { queue: "rated" },
  );
  for (const nonce of ["r1", "r2", "r3", "r4"]) {
    if (nonce === "r3") run.pass(1_000);
    run.submit(nonce, { queue: "rated" }, { queue: "rated" }).work(nonce);
  }
  // Nobody fires for two minutes; then one schedule makes up for both slots, and the other for the latest.
  for (const catch_up of ["all", "one"] as const)
    run.call(
      "schedule",
      { name: catch_up, tenant: "a", queue: "q", every_ms: minute_ms, catch_up },
      { name: catch_up },
    );
  run.pass(125_000 - run.now_ms);
  fire(run, "all", 1);
  fire(run, "all", 2);
  fire(run, "one", 2);
  return run.pass(15_000);
}

const minute_ms = 60_000;
/** The slot of that minute gets its job now. */
function fire(run: MadeUpRun, name: string, minute: number): MadeUpRun {
  const nonce = `${name}-${minute}`;
  run.final.keys.push({
    tenant: "a",
    key: `schedule:${name}:${new Date(minute * minute_ms).toISOString()}`,
    job: `job-${nonce}`,
  });
  return run.move(`job-${nonce}`, "queued", { nonce: name }).work(nonce);
}

test("a good run violates nothing", async () => {
  expect(await brokenBy(goodRun())).toEqual([]);
});

const wanted = (nonce: string) => ({ nonce, kind: "plain", tenant: "a", queue: "q", ends: "any" as const });
const remote = { job: "job-plain", attempt: 1, worker: "remote-1" };

/** What violates each of them, and what is said of it. */
const violations: readonly [name: string, evidence: RegExp, act: (run: MadeUpRun) => unknown][] = [
  [
    "acknowledged-ends",
    /never stored/,
    (run) => run.call("submit", { via: "http", jobs: [wanted("x")] }, { answers: [{ nonce: "x", job: "job-x" }] }),
  ],
  ["acknowledged-ends", /is queued at attempt 0/, (run) => run.submit("x")],
  [
    "acknowledged-ends",
    /though nobody was told, it is queued/,
    (run) => run.call("submit", { via: "http", jobs: [wanted("x")] }, "info").move("job-x", "queued", { nonce: "x" }),
  ],
  ["expected-end", /should be dead and is succeeded/, (run) => run.submit("x", { ends: "dead" }).work("x")],
  ["nothing-unexpected", /nobody submitted it/, (run) => run.move("job-x", "queued", { nonce: "x" }).work("x")],
  [
    "nothing-unexpected",
    /its submitter told that it was not/,
    (run) =>
      run
        .call("submit", { via: "http", jobs: [wanted("x")] }, "fail")
        .move("job-x", "queued", { nonce: "x" })
        .work("x"),
  ],
  [
    "nothing-unexpected",
    /refused as Mismatch/,
    (run) =>
      run
        .call("submit", { via: "http", jobs: [wanted("x")] }, { answers: [{ nonce: "x", refused: "Mismatch" }] })
        .move("job-x", "queued", { nonce: "x" })
        .work("x"),
  ],
  [
    "nothing-unexpected",
    /is job job-x as well/,
    (run) => run.submit("x").work("x").move("job-y", "queued", { nonce: "x" }).work("y"),
  ],
  [
    "nothing-unexpected",
    /refused as ConflictError/,
    (run) =>
      run
        .call("submit", { via: "http", jobs: [wanted("x")] }, { answers: [{ nonce: "x", refused: "ConflictError" }] })
        .move("job-x", "queued", { nonce: "x" })
        .work("x"),
  ],
  ["schedule-slots", /another job/, (run) => run.move("job-t", "queued", { nonce: "tick" }).work("t")],
  [
    "schedule-slots",
    /between two slots/,
    (run) => run.final.keys.push({ tenant: "a", key: "schedule:tick:2026-01-01T00:01:30.000Z", job: "job-tick" }),
  ],
  [
    "schedule-slots",
    /of no schedule of b/,
    (run) => run.final.keys.push({ tenant: "b", key: "schedule:tick:2026-01-01T00:01:00.000Z", job: "job-tick" }),
  ],
  ["schedule-missed", /a all has no job for 1970-01-01T00:03/, (run) => run.pass(minute_ms)],
  ["schedule-missed", /a one has no job for 1970-01-01T00:03/, (run) => run.pass(minute_ms)],
  [
    "schedule-missed",
    /a one has no job for 1970-01-01T00:03/,
    (run) => {
      fire(run.pass(3 * minute_ms - run.now_ms), "all", 3).pass(minute_ms);
      fire(run, "all", 4);
      fire(run, "one", 4).pass(minute_ms / 2);
    },
  ],
  ["schedule-missed", /a all fired at 1970-01-01T00:02.* for 1970-01-01T00:05/, (run) => fire(run, "all", 5)],
  ["one-id-per-key", /made job-keyed as well/, (run) => run.submit("x", { key: "k" }).work("x")],
  [
    "one-id-per-key",
    /answered with job-keyed as well/,
    (run) =>
      run.call(
        "submit",
        { via: "http", jobs: [{ ...wanted("x"), key: "k" }] },
        { answers: [{ nonce: "x", job: "job-plain" }] },
      ),
  ],
  ["one-id-per-key", /stands for it/, (run) => run.final.keys.push({ tenant: "a", key: "k", job: "job-plain" })],
  [
    "batch-whole",
    /1 of 2 jobs of b/,
    (run) =>
      run
        .call("submit", { via: "http", batch: "b", jobs: [wanted("x"), wanted("y")] }, "info")
        .move("job-x", "queued", { nonce: "x" })
        .work("x"),
  ],
  [
    "batch-whole",
    /in 2 transactions/,
    (run) =>
      run
        .call("submit", { via: "http", batch: "b", jobs: [wanted("x"), wanted("y")] }, "info")
        .move("job-x", "queued", { nonce: "x" })
        .move("job-y", "queued", { nonce: "y" })
        .work("x")
        .work("y"),
  ],
  [
    "callers-rows",
    /the row is not there and 1 of 1 jobs are/,
    (run) => run.submit("x", { via: "transaction", row: "x" }).work("x"),
  ],
  [
    "callers-rows",
    /was committed and is not there/,
    (run) => run.call("submit", { via: "transaction", row: "x", jobs: [wanted("x")] }, { answers: [] }),
  ],
  [
    "callers-rows",
    /was rolled back and is there/,
    (run) => {
      run.final.rows.push("x");
      run
        .call("submit", { via: "transaction", row: "x", jobs: [wanted("x")] }, "fail")
        .move("job-x", "queued", { nonce: "x" });
    },
  ],
  [
    "one-live-token",
    /with 200.0 ms of its lease left/,
    (run) => run.submit("x").move("job-x", "running").handle("x", "dies").lose("x", { lease_left_ms: 200 }).work("x"),
  ],
  [
    "one-live-token",
    /used for two claims/,
    (run) =>
      run
        .submit("x")
        .move("job-x", "running", { token: "t" })
        .handle("x")
        .lose("x")
        .move("job-x", "running", { token: "t" }),
  ],
  [
    "one-live-token",
    /changed its token/,
    (run) =>
      run
        .submit("x")
        .move("job-x", "running")
        .move("job-x", "running", { attempts: 1 })
        .handle("x")
        .move("job-x", "succeeded"),
  ],
  [
    "own-attempt",
    /completed with the result of attempt 1/,
    (run) =>
      run
        .submit("x")
        .move("job-x", "running")
        .handle("x")
        .lose("x")
        .move("job-x", "running")
        .handle("x")
        .move("job-x", "succeeded", { done_by_attempt: 1 }),
  ],
  [
    "own-attempt",
    /no handler of it had returned/,
    (run) => run.submit("x").move("job-x", "running").handle("x", { ended: "threw" }).move("job-x", "succeeded"),
  ],
  [
    "own-attempt",
    /no handler of it had ended/,
    (run) => run.submit("x").move("job-x", "running").handle("x", "dies").move("job-x", "dead", { error: "Error: no" }),
  ],
  [
    "own-attempt",
    /no lease of this token ended so/,
    (run) => run.call("settle", { ...remote, token: "old", as: "complete" }, { answer: "applied" }),
  ],
  [
    "attempts-seen",
    /no handler had seen it/,
    (run) => run.submit("x").move("job-x", "running").pass(90_000).lose("x").work("x"),
  ],
  ["runs-leased", /ran in worker-1 without a claim/, (run) => run.submit("x").handle("x").pass(100).work("x")],
  [
    "runs-leased",
    /without a claim/,
    (run) =>
      run
        .submit("x", { group: "crashed" })
        .fault("postgres-killed", ["postgres"], () => void run.handle("x").pass(100))
        .work("x"),
  ],
  [
    "attempts-counted",
    /one attempt too many/,
    (run) => run.submit("x").move("job-x", "running", { max_attempts: 0 }).handle("x").move("job-x", "succeeded"),
  ],
  [
    "attempts-counted",
    /from running with 1 to failed with 0/,
    (run) =>
      run.submit("x").move("job-x", "running").handle("x", { ended: "threw" }).move("job-x", "failed", { attempts: 0 }),
  ],
  [
    "attempts-counted",
    /attempt 1 was not counted/,
    (run) => {
      const life = { name: "worker-2", role: "worker", pid: 2 };
      run.submit("x").move("job-x", "running");
      const told = { job: "job-x", attempt: 1, worker: "worker-2", tenant: "a", queue: "q" };
      const meanwhile = () => void run.call("handle", told, "dies", { process: "worker-2" });
      run.call("process", life, { code: null, signal: "SIGKILL", victim: true }, { process: "rig", meanwhile });
      run.pass(100).lose("x", { attempts: 0 }).work("x");
    },
  ],
  [
    "recovery-time",
    /9000 ms after its lease/,
    (run) =>
      run
        .submit("x")
        .move("job-x", "running")
        .handle("x", "dies")
        .pass(90_000)
        .lose("x", { lease_left_ms: -9_000 })
        .work("x"),
  ],
  ["legal-moves", /from succeeded to running/, (run) => run.move("job-plain", "running")],
  [
    "legal-moves",
    /was succeeded and then moved from failed/,
    (run) => run.move("job-plain", "queued", { was: "failed" }),
  ],
  [
    "final-stays",
    /nobody had asked for/,
    (run) => run.submit("x").move("job-x", "cancelled").move("job-x", "queued").work("x"),
  ],
  [
    "tenants-apart",
    /was let in: read/,
    (run) => run.call("trespass", { tenant: "b", jobs: ["job-plain"], about: "read" }, { status: 200, seen: true }),
  ],
  ["tenants-apart", /from a to b/, (run) => run.submit("x").move("job-x", "cancelled", { tenant: "b" })],
  ["tenants-apart", /stored as b's/, (run) => run.submit("x", {}, { tenant: "b" }).work("x")],
  [
    "group-order",
    /started before job-x/,
    (run) => run.submit("x", { group: "h" }).submit("y", { group: "h" }).work("y").work("x"),
  ],
  [
    "group-overlap",
    /it was claimed while job-x was held/,
    (run) => {
      run.submit("x", { group: "h" }).submit("y", { group: "h" }).move("job-x", "running");
      run.handle("x").work("y").move("job-x", "succeeded");
    },
  ],
  [
    "group-overlap",
    /its handler ran beside that of job-x/,
    (run) => {
      run.submit("x", { group: "h" }).submit("y", { group: "h" }).move("job-x", "running");
      run.handle("x", { ended: "returned" }, () => void run.move("job-x", "failed", { error: "Error: no" }).work("y"));
    },
  ],
  [
    "limits-kept",
    /a q had 3 jobs running and a limit of 2/,
    (run) => {
      for (const nonce of ["x", "y", "z"]) run.submit(nonce).move(`job-${nonce}`, "running");
    },
  ],
  [
    "rates-kept",
    /a rated had 3 starts in 1000 ms and a limit of 2/,
    (run) => {
      for (const nonce of ["x", "y", "z"]) run.submit(nonce, { queue: "rated" }, { queue: "rated" }).work(nonce);
    },
  ],
  ["dead-list", /it is in the list and not dead/, (run) => run.final.dead_list?.push("job-plain")],
  ["dead-list", /in the list twice/, (run) => run.final.dead_list?.push("job-g1")],
  ["dead-list", /dead and not in the list/, (run) => run.final.dead_list?.pop()],
  [
    "bounded",
    /rss of worker-1 was 9, above 8/,
    (run) => run.call("sample", { of: "rss", name: "worker-1", value: 9, bound: 8 }, {}),
  ],
  [
    "run-whole",
    /api-1 ended by itself with SIGSEGV/,
    (run) =>
      run.call("process", { name: "api-1", role: "api", pid: 2 }, { code: null, signal: "SIGSEGV", victim: false }),
  ],
];

test.each(violations)("%s sees a run in which %s", async (name, evidence, act) => {
  const run = goodRun();
  act(run);
  const broken = await brokenBy(run);
  expect(broken).toContainEqual({ name, evidence: expect.stringMatching(evidence) as string });
});

const excuses: readonly [name: string, kind: string, act: (run: MadeUpRun) => unknown][] = [
  ["attempts-seen", "its process died or stood still", () => {}],
  ["attempts-seen", "commits took too long", () => {}],
  ["attempts-seen", "its way to PostgreSQL was shut", () => {}],
  ["attempts-seen", "the table of jobs was locked", () => {}],
  ["group-overlap", "a handler outlived its lease", () => {}],
  [
    "attempts-seen",
    "the answer was cut",
    (run) => {
      run.call("process", { name: "remote-1", role: "remote", pid: 3 }, "dies", { process: "rig" });
      run.submit("cut").move("job-cut", "running", { worker: "remote-1" });
      run.fault("answers-lost", ["remote-1>api-1"]).pass(3_500).lose("cut").work("cut");
    },
  ],
  [
    "attempts-seen",
    "the APIs' answers took too long",
    (run) => {
      run.call("process", { name: "remote-1", role: "remote", pid: 3 }, "dies", { process: "rig" });
      run.submit("waits").move("job-waits", "running", { worker: "remote-1" });
      const said = { ...remote, token: "old", as: "heartbeat" as const };
      run.call("settle", said, { answer: "refused" }, { process: "remote-1", meanwhile: () => run.pass(1_200) });
      run.pass(2_000).lose("waits").work("waits");
    },
  ],
  [
    "nothing-unexpected",
    "stored by a try without an answer, when a later one had been refused",
    (run) => {
      const end = { answers: [{ nonce: "x", refused: "ConflictError" }] };
      run.call("submit", { via: "http", jobs: [wanted("x")] }, end, { meanwhile: () => run.pass(5_000) });
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
    "PostgreSQL or a sweeper was in trouble",
    (run) => {
      run.submit("late").move("job-late", "running").handle("late", "dies");
      run.fault("disk-full", ["postgres"], () => run.pass(6_000));
      run.lose("late", { lease_left_ms: -6_000 }).work("late");
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

test("every invariant has been seen to be violated", () => {
  expect(invariants.map(({ name }) => name).filter((name) => !violations.some(([known]) => known === name))).toEqual(
    [],
  );
});
