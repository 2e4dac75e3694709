import { limits, submitLine, validate, type SubmitJob } from "@atlasqueue/contract";
import { parseJson } from "../../http/body/body.ts";
import type { Line } from "../../http/body/lines.ts";
import { requireSmall } from "../../http/body/require-small.ts";
import { invalid, ProblemError } from "../../http/answers/problem.ts";

type Wish = { request: SubmitJob; idempotency_key: string };

/** A line that asks for a job, or what is wrong with it. */
export type Asked = { line: number; bytes: number; wish?: Wish; problem?: ProblemError };

/** What a line asks for. One that is wrong is wrong alone. */
export function readLine({ number: line, bytes }: Line, payload_bytes_max: number): Asked {
  try {
    return { line, bytes: bytes.length, wish: wishOf(bytes, payload_bytes_max) };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { line, bytes: bytes.length, problem: error };
  }
}

/** The same checks as those of a whole body, in the same order. */
function wishOf(bytes: Uint8Array, payload_bytes_max: number): Wish {
  const value = parseJson(bytes, "The line");
  const checked = validate(submitLine, value);
  if (checked.kind === "invalid") throw invalid(checked.faults.slice(0, limits.line_faults_max));
  const { idempotency_key, ...request } = checked.value;
  requireSmall(request.payload, "/payload", bytes.length, payload_bytes_max);
  return { request, idempotency_key };
}
