import type { Violation } from "./violation.ts";

export const moves: readonly Violation[] = [
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
];
