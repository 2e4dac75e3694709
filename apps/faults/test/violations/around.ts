import type { Violation } from "./violation.ts";

export const around: readonly Violation[] = [
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
  [
    "run-whole",
    /worker-1 ended by itself with 1/,
    (run) =>
      run.fault("answers-lost", ["api-1>postgres"], () => {
        run.call("process", { name: "worker-1", role: "worker", pid: 2 }, { code: 1, signal: null, victim: false });
      }),
  ],
];
