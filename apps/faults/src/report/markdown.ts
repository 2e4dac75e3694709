import type { Finding } from "../check/check.ts";
import type { Figures } from "./figures.ts";
import { together } from "./together.ts";

/** A column: a seed's, or that of all. */
type Columned = Omit<Figures, "seed" | "commit"> & { seed: number | "all" };

/** One run, with what was found wrong with it. */
export type Judged = { figures: Figures; findings: readonly Finding[] };

/**
 * The figures as a page: a column for each seed and one for all together, and below it what was excused and what was found.
 *
 * @example
 * writeFileSync("figures.md", markdownOf(judged));
 */
export function markdownOf(judged: readonly Judged[]): string {
  const all = judged.map(({ figures }) => figures);
  const columns: readonly Columned[] = all.length > 1 ? [...all, { ...together(all), seed: "all" }] : all;
  const row = (name: string, value: (figures: Columned) => unknown) =>
    `| ${name} | ${columns.map((one) => String(value(one))).join(" | ")} |`;
  const rowsOf = (title: string, read: (figures: Columned) => Record<string, number>) =>
    [...new Set(columns.flatMap((one) => Object.keys(read(one))))]
      .toSorted()
      .map((name) => row(title ? `${title}: ${name}` : name, (one) => read(one)[name] ?? 0));
  const recovery = (part: "p50" | "p99" | "max") =>
    row(`recovery ${part}, ms`, (one) => one.recovery_ms?.[part] ?? "none");
  const sentences = new Map(
    judged.flatMap(({ findings }) => findings.map(({ name, sentence }) => [name, sentence] as const)),
  );
  return [
    `# Faults: figures`,
    "",
    `Commit \`${[...new Set(all.map(({ commit }) => commit))].join("`, `")}\`, ${all.map(({ minutes }) => Number(minutes.toFixed(2))).join(" + ")} minutes.`,
    "",
    row("seed", ({ seed }) => seed),
    `| --- |${columns.map(() => " ---: |").join("")}`,
    row("jobs", ({ jobs }) => jobs),
    ...rowsOf("ended", ({ ends }) => ends),
    ...rowsOf("submits", ({ submits }) => submits),
    row("handler runs", ({ handler_runs }) => handler_runs),
    row("duplicated handler runs", ({ duplicates }) => duplicates),
    row("leases lost", ({ lost_leases }) => lost_leases),
    row("stale acks refused", ({ stale_acks_refused }) => stale_acks_refused),
    ...rowsOf("signals", ({ kills }) => kills),
    ...rowsOf("faults", ({ faults }) => faults),
    ...(["p50", "p99", "max"] as const).map(recovery),
    "",
    "## Excused",
    "",
    "Not counted as violations, because the history shows why they are none.",
    "",
    row("what and why", ({ seed }) => seed),
    `| --- |${columns.map(() => " ---: |").join("")}`,
    ...rowsOf("", ({ excused }) => excused),
    "",
    "## Violations",
    "",
    `| invariant |${columns.map(({ seed }) => ` ${seed} |`).join("")} promise |`,
    `| --- |${columns.map(() => " ---: |").join("")} --- |`,
    ...[...sentences].map(
      ([name, sentence]) => `${row(name, ({ violations }) => violations[name] ?? 0)} ${sentence} |`,
    ),
    "",
    ...judged.flatMap(({ figures, findings }) => evidenceOf(figures.seed, findings)),
  ].join("\n");
}

function evidenceOf(seed: number, findings: readonly Finding[]): string[] {
  return findings.flatMap(({ name, first, violations }) =>
    violations === 0
      ? []
      : [
          `### Seed ${seed}: ${name}, ${violations}`,
          "",
          ...first.map(({ job, evidence }) => `- ${job ?? "run"}: ${evidence}`),
          "",
        ],
  );
}
