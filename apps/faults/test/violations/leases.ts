import { givesBack, itsAnswer, remote, repeats, waits, waitsAndRenews } from "../good-run.ts";
import type { Violation } from "./violation.ts";

export const leases: readonly Violation[] = [
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
  [
    "attempts-seen",
    /attempt 1 of remote-1-a-q/,
    // Another word that was answered late is no reason.
    (run) => {
      const said = { ...remote, token: "old", as: "heartbeat" as const };
      const late = () => void run.pass(1_200);
      waits(run, itsAnswer, (claim) => {
        run.call("settle", said, { answer: "refused" }, { process: "remote-1", meanwhile: late });
        claim();
      });
    },
  ],
  [
    "attempts-seen",
    /attempt 1 of remote-1-a-q/,
    // It was answered late, but with something else.
    (run) => waits(run, { jobs: [] }, (claim) => void claim().pass(1_200)),
  ],
  [
    "attempts-seen",
    /attempt 1 of remote-1-a-q/,
    // It was renewed in time.
    (run) => waitsAndRenews(run, 800),
  ],
  [
    "attempts-seen",
    /attempt 1 of remote-1-a-q/,
    // It was renewed late, but could have begun long before.
    (run) => waitsAndRenews(run, 1_200, 1_200),
  ],
  [
    "attempts-seen",
    /attempt 1 of remote-1-a-q/,
    // It asked again while the lease lived, and was told that nothing was leased.
    (run) =>
      waits(
        run,
        "info",
        (claim) => void claim().pass(300),
        () => repeats(run, { jobs: [] }, () => {}),
      ),
  ],
  [
    "attempts-seen",
    /it was not asked for again, nor given back/,
    (run) => waits(run, "info", (claim) => void claim().pass(1_200)),
  ],
  [
    "attempts-seen",
    /it had been given back/,
    (run) =>
      waits(
        run,
        "info",
        (claim) => void claim().pass(1_200),
        () => givesBack(run, "answered"),
      ),
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
    /19000 ms after its lease/,
    (run) =>
      run
        .submit("x")
        .move("job-x", "running")
        .handle("x", "dies")
        .pass(90_000)
        .lose("x", { lease_left_ms: -19_000 })
        .work("x"),
  ],
  [
    "recovery-time",
    /16000 ms after its lease/,
    (run) => {
      run.submit("x").move("job-x", "running").handle("x", "dies");
      run.fault("process-frozen", ["worker-2"], () => run.pass(90_000));
      run.lose("x", { lease_left_ms: -16_000 }).work("x");
    },
  ],
  [
    "recovery-time",
    /17000 ms after its lease/,
    // One connection is not PostgreSQL.
    (run) => {
      run.submit("x").move("job-x", "running").handle("x", "dies");
      run.fault("reset", ["worker-2>postgres"], () => run.pass(9_000));
      run.lose("x", { lease_left_ms: -17_000 }).work("x");
    },
  ],
];
