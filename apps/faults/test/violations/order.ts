import type { Violation } from "./violation.ts";

export const order: readonly Violation[] = [
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
];
