import { setImmediate as nextTurn } from "node:timers/promises";
import { limits, submitLine, validate, type SubmitJob } from "@atlasqueue/contract";
import { at_once_bytes_max, parseWeighed } from "../../http/body/body.ts";
import type { Line } from "../../http/body/lines.ts";
import type { Memory } from "../../http/gate.ts";
import { requireSmall } from "../../http/body/require-small.ts";
import { invalid, ProblemError } from "../../http/answers/problem.ts";

type Wish = { request: SubmitJob; idempotency_key: string };

/** A line that asks for a job, or what is wrong with it. */
export type Asked = { line: number; bytes: number; wish?: Wish; problem?: ProblemError };

/** Read without a rest, together: about a millisecond's worth. */
const lines_at_once_max = 50;

/** What lines ask for. One that is wrong is wrong alone. */
export async function readLines(lines: readonly Line[], payload_bytes_max: number, memory: Memory): Promise<Asked[]> {
  const asked: Asked[] = [];
  let [some, bytes] = [0, 0];
  for (const { number: line, bytes: text } of lines) {
    some += 1;
    bytes += text.length;
    if (some > lines_at_once_max || bytes > at_once_bytes_max) {
      await nextTurn();
      [some, bytes] = [1, text.length];
    }
    try {
      asked.push({ line, bytes: text.length, wish: await readLine(text, payload_bytes_max, memory) });
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      asked.push({ line, bytes: text.length, problem: error });
    }
  }
  return asked;
}

/** The same checks as those of a whole body, in the same order. */
async function readLine(bytes: Uint8Array, payload_bytes_max: number, memory: Memory): Promise<Wish> {
  const value = await parseWeighed(bytes, "The line", memory);
  const checked = validate(submitLine, value);
  if (checked.kind === "invalid") throw invalid(checked.faults.slice(0, limits.line_faults_max));
  const { idempotency_key, ...request } = checked.value;
  requireSmall(request.payload, "/payload", bytes.length, payload_bytes_max);
  return { request, idempotency_key };
}
