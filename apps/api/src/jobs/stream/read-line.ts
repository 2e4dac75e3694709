import { limits, submitLine, validate, type TraceContext } from "@atlasqueue/contract";
import type { EnqueueOutcome, Submission } from "@atlasqueue/core/internal/http";
import { parseJson, requireSmall } from "../../http/body/body.ts";
import type { Line } from "../../http/body/lines.ts";
import type { Weigh } from "../../http/gate.ts";
import { invalid, ProblemError } from "../../http/answers/problem.ts";

/** A line that was read, and what became of it: its outcome, or what was thrown for it. */
export type Item = {
  line: number;
  bytes: number;
  submission?: Submission & { idempotency_key: string };
  outcome?: EnqueueOutcome;
  thrown?: unknown;
  /** What was thrown ends the stream: the line may have been stored, or no line can be. */
  ends?: boolean;
};

/** An item that may still be stored. */
export type Wish = Item & Required<Pick<Item, "submission">>;
export const wishesOf = (items: readonly Item[]): Wish[] =>
  items.filter((item): item is Wish => item.submission !== undefined && item.thrown === undefined);

/** Whose lines they are, and how large their payloads may be. */
type Reading = { tenant: string; trace: TraceContext | undefined; deps: { payload_bytes_max: number } };

/** What a line asks for: the same checks as those of a whole body, in the same order. One that is wrong is wrong alone. */
export function readLine({ number: line, bytes }: Line, { tenant, trace, deps }: Reading, weigh: Weigh): Item {
  const item = { line, bytes: bytes.length };
  try {
    const checked = validate(submitLine, parseJson(bytes, "The line", weigh));
    if (checked.kind === "invalid") throw invalid(checked.faults.slice(0, limits.line_faults_max));
    const { idempotency_key, ...request } = checked.value;
    requireSmall(request.payload, "/payload", bytes.length, deps.payload_bytes_max);
    return { ...item, submission: { tenant, request, idempotency_key, trace } };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { ...item, thrown: error };
  }
}
