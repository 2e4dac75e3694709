import { madeUpRun, type MadeUpRun } from "./made-up-run.ts";

/** A day without a fault of ours: all that happens to jobs, and some that happens to programs. */
export function goodRun(): MadeUpRun {
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

export const minute_ms = 60_000;
/** The slot of that minute gets its job now. */
export function fire(run: MadeUpRun, name: string, minute: number): MadeUpRun {
  const nonce = `${name}-${minute}`;
  run.final.keys.push({
    tenant: "a",
    key: `schedule:${name}:${new Date(minute * minute_ms).toISOString()}`,
    job: `job-${nonce}`,
  });
  return run.move(`job-${nonce}`, "queued", { nonce: name }).work(nonce);
}

/** One job, as it is submitted without anything special. */
export const wanted = (nonce: string) => ({ nonce, kind: "plain", tenant: "a", queue: "q", ends: "any" as const });

/** What a remote worker says a word about. */
export const remote = { job: "job-plain", attempt: 1, worker: "remote-1" };

/** A remote worker's library asks for a job, which is leased for it `meanwhile`; `then` the lease ends, and no handler has seen it. */
export function waits(
  run: MadeUpRun,
  end: { jobs: { job: string; attempt: number; token: string }[] } | "info",
  meanwhile: (claim: () => MadeUpRun) => void,
  then: (claim: () => MadeUpRun) => void = () => {},
): void {
  const asked = { worker: "remote-1-a-q", tenant: "a", to: "api-1", library: true, token: "its-token" };
  run.call("process", { name: "remote-1", role: "remote", pid: 3 }, "dies", { process: "rig" });
  run.submit("waits");
  const claim = () => run.move("job-waits", "running", { worker: asked.worker, token: "its-token" });
  run.call("lease", asked, end, { process: "remote-1", meanwhile: () => meanwhile(claim) });
  then(claim);
  run.pass(3_500).lose("waits").work("waits");
}

/** What has that job. */
export const itsAnswer = { jobs: [{ job: "job-waits", attempt: 1, token: "its-token" }] };

/** It asks again under its token, and waits for an answer for as long as `meanwhile` takes. */
export function repeats(run: MadeUpRun, end: { jobs: typeof itsAnswer.jobs } | "info", meanwhile: () => void): void {
  const asked = { worker: "remote-1-a-q", tenant: "a", to: "api-1", library: true, token: "its-token" };
  run.call("lease", asked, end, { process: "remote-1", meanwhile });
}

/** It gives back what it may have been given. */
export function givesBack(run: MadeUpRun, end: "answered" | "info", meanwhile = () => {}): void {
  run.call("giveBack", { token: "its-token" }, end === "info" ? end : {}, { process: "remote-1", meanwhile });
}

/** It is killed while it asks for a job, and the API hears of that only after the claim. */
export function diesAsking(run: MadeUpRun): void {
  const asked = { worker: "remote-1-a-q", tenant: "a", to: "api-1", library: true, token: "its-token" };
  const asks = () => void run.call("lease", asked, "dies", { process: "remote-1" });
  const killed = { code: null, signal: "SIGKILL", victim: true };
  run.submit("orphan");
  run.call("process", { name: "remote-1", role: "remote", pid: 3 }, killed, { process: "rig", meanwhile: asks });
  run.pass(1_200).move("job-orphan", "running", { worker: asked.worker, token: asked.token });
  run.pass(3_500).lose("orphan").work("orphan");
}

/** It renews the lease of that job, and is answered after so long. */
function renews(run: MadeUpRun, ms: number): MadeUpRun {
  const renewed = { job: "job-waits", token: "its-token" };
  return run.call("renew", renewed, {}, { process: "remote-1", meanwhile: () => void run.pass(ms) });
}

/** It is told of that job in time, and renews its lease so long after, which takes `ms`; no handler sees it. */
export const waitsAndRenews = (run: MadeUpRun, ms: number, after_ms = 0): void =>
  waits(
    run,
    itsAnswer,
    (claim) => void claim(),
    () => renews(run.pass(after_ms), ms),
  );
