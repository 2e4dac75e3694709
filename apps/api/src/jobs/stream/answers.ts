import type { LastLine, RefusedLine, TakenLine } from "@atlasqueue/contract";
import type { EnqueueOutcome } from "@atlasqueue/core/internal/http";
import { aboutProblem, type ProblemError } from "../../http/answers/problem.ts";
import { keyMismatch, uniqueConflict } from "../refused.ts";

/** Why a stream ends. */
export type Ending = { end: Exclude<LastLine["end"], "failed"> } | { end: "failed"; problem: ProblemError };

export function takenOrRefused(line: number, outcome: EnqueueOutcome): string {
  switch (outcome.kind) {
    case "mismatch":
      return refused(line, keyMismatch());
    case "conflict":
      return refused(line, uniqueConflict(outcome.job_id));
    case "created":
    case "replayed":
    case "existing":
    case "replaced": {
      const { id, status } = outcome.job;
      return asLine({ line, id, status, outcome: outcome.kind } satisfies TakenLine);
    }
    default:
      return outcome satisfies never;
  }
}

export function refused(line: number, problem: ProblemError): string {
  return asLine({ line, error: aboutProblem(problem) } satisfies RefusedLine);
}

/** The last line of an answer. */
export function ended(ending: Ending, answered: number): string {
  const { end } = ending;
  if (end !== "failed") return asLine({ end, answered } satisfies LastLine);
  return asLine({ end, answered, error: aboutProblem(ending.problem) } satisfies LastLine);
}

const asLine = (value: object) => `${JSON.stringify(value)}\n`;
