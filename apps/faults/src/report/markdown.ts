import type { Finding } from "../check/check.ts";
import type { Figures } from "./figures.ts";

/** One run, with what was found wrong with it. */
export type Judged = { figures: Figures; findings: readonly Finding[] };

/**
 * The figures as a page: a column for each seed, and below it what was found.
 *
 * @example
 * writeFileSync("figures.md", markdownOf(judged));
 */
export function markdownOf(judged: readonly Judged[]): string {
  const all = judged.map(({ figures }) => figures);
  const row = (name: string, value: (figures: Figures) => unknown) =>
    `| ${name} | ${all.map((one) => String(value(one))).join(" | ")} |`;
  const rowsOf = (title: string, read: (figures: Figures) => Record<string, number>) =>
    [...new Set(all.flatMap((one) => Object.keys(read(one))))]
      .toSorted()
      .map((name) => row(`${title}: ${name}`, (one) => read(one)[name] ?? 0));
  const recovery = (part: "p50" | "p99" | "max") =>
    row(`recovery ${part}, ms`, (one) => one.recovery_ms?.[part] ?? "none");
  const sentences = new Map(
    judged.flatMap(({ findings }) => findings.map(({ name, sentence }) => [name, sentence] as const)),
  );
  return [
    `# Faults: figures`,
    "",
    `Commit \`${[...new Set(all.map(({ commit }) => commit))].join("`, `")}\`, ${all.map(({ minutes }) => minutes).join(" + ")} minutes.`,
    "",
    row("seed", ({ seed }) => seed),
    `| --- |${all.map(() => " ---: |").join("")}`,
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
    "## Violations",
    "",
    `| invariant |${all.map(({ seed }) => ` ${seed} |`).join("")} promise |`,
    `| --- |${all.map(() => " ---: |").join("")} --- |`,
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
