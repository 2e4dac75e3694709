import { fire, minute_ms, wanted } from "../good-run.ts";
import type { Violation } from "./violation.ts";

export const submitted: readonly Violation[] = [
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
    /refused as ConflictError/,
    // However long it took, each of its tries was answered.
    (run) => {
      const end = { answers: [{ nonce: "x", refused: "ConflictError", unanswered: false }] };
      run.call("submit", { via: "http", jobs: [wanted("x")] }, end, { meanwhile: () => run.pass(6_000) });
      run.move("job-x", "queued", { nonce: "x" }).work("x");
    },
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
];
