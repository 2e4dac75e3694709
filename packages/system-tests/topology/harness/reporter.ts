import { basename } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import type { Measures } from "./outage.ts";
import "./core-suite.ts";

const columns: Readonly<Record<string, (measures: Measures) => string>> = {
  "quiet in": (one) => seconds(one.submits_silent_ms),
  submit: (one) => seconds(one.submit_wait_ms_max),
  "quiet out": (one) => seconds(one.jobs_silent_ms),
  job: (one) => seconds(one.job_wait_ms_max),
  "503s": (one) => String(one.refused),
  accepted: (one) => String(one.accepted),
  lost: (one) => String(one.lost),
  again: (one) => String(one.run_again),
  "twice at once": (one) => String(one.run_beside),
  "groups out of order": (one) => String(one.out_of_order),
};
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** Prints what the outages did as a table for `packages/deploy/RESULTS.md`. */
export default class implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules.flatMap((module) =>
      [...module.children.allTests()].flatMap((test) => {
        const { measures } = test.meta();
        if (measures === undefined) return [];
        const place = test.parent.type === "suite" ? `, ${test.parent.name}` : "";
        return [[basename(module.moduleId, ".test.ts"), `${measures.outage}${place}`, ...cells(measures)]];
      }),
    );
    if (rows.length === 0) return;
    const lines = [["topology", "what happens", ...Object.keys(columns)], ...rows];
    const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
    const row = (line: readonly string[]) => `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
    const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
    const [head = [], ...body] = lines;
    process.stdout.write(`\n${[row(head), rule, ...body.map(row)].join("\n")}\n`);
  }
}

const cells = (measures: Measures) => Object.values(columns).map((of) => of(measures));
