import { explanations, problems, problemType, type ProblemKind } from "@atlasqueue/contract";
import { code, table } from "./table.ts";

/** A heading for each code, as the dashboard links to `#queue_paused`. */
export function explanationSections(): string {
  return Object.entries(explanations)
    .map(([name, { meaning, fix }]) => `### ${name}\n\n${meaning} ${fix}`)
    .join("\n\n");
}

export function problemTable(): string {
  return table(
    ["type", "status", "title"],
    Object.entries(problems).map(([kind, { status, title }]) => [
      code(problemType(kind as ProblemKind)),
      String(status),
      title,
    ]),
  );
}
