import { limits, submitLine, validate, type SubmitJob } from "@atlasqueue/contract";
import { createJsonMeter } from "../../http/body/json-meter.ts";
import type { Line } from "../../http/body/lines.ts";
import { parseJson } from "../../http/body/parse-json.ts";
import { countKeys, refuseRepeatedKeys } from "../../http/body/repeated-keys.ts";
import { requireSmall } from "../../http/body/require-small.ts";
import { invalid, ProblemError } from "../../http/answers/problem.ts";

type Wish = { request: SubmitJob; idempotency_key: string };

/** A line that asks for a job, or what is wrong with it. */
export type Asked = { line: number; bytes: number; wish?: Wish; problem?: ProblemError };

/** Lines up to this size are read at once; larger ones wait for their turn of the event loop, step by step. */
const at_once_bytes_max = 8_192;
/** Read without a rest, together: about a millisecond's worth. */
const lines_at_once_max = 50;

type Reading = { payload_bytes_max: number; rest: () => Promise<void> };

/** What lines take in memory while they are stored, roughly: as they came, and parsed. Those that are refused unread count as they came. */
export function weightOf(lines: readonly Line[]): number {
  let weight = 0;
  for (const { bytes } of lines) {
    const meter = createJsonMeter();
    try {
      meter.push(bytes);
      weight += meter.weight();
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
    }
    weight += bytes.length;
  }
  return weight;
}

/** What lines ask for. One that is wrong is wrong alone. */
export async function readLines(lines: readonly Line[], reading: Reading): Promise<Asked[]> {
  const asked: Asked[] = [];
  let [some, bytes] = [0, 0];
  for (const { number: line, bytes: text } of lines) {
    some += 1;
    bytes += text.length;
    if (some > lines_at_once_max || bytes > at_once_bytes_max) {
      await reading.rest();
      [some, bytes] = [1, text.length];
    }
    try {
      asked.push({ line, bytes: text.length, wish: await readLine(text, reading) });
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      asked.push({ line, bytes: text.length, problem: error });
    }
  }
  return asked;
}

/** The same checks as those of a whole body, in the same order. */
async function readLine(bytes: Uint8Array, { payload_bytes_max, rest }: Reading): Promise<Wish> {
  const large = bytes.length > at_once_bytes_max;
  const meter = createJsonMeter();
  meter.push(bytes);
  const { text, value } = parseJson(bytes, "The line");
  if (large) await rest();
  if (countKeys(value) !== meter.keys()) await refuseRepeatedKeys(text, rest);
  if (large) await rest();
  const checked = validate(submitLine, value);
  if (checked.kind === "invalid") throw invalid(checked.faults.slice(0, limits.line_faults_max));
  const { idempotency_key, ...request } = checked.value;
  requireSmall(request.payload, "/payload", bytes.length, payload_bytes_max);
  return { request, idempotency_key };
}
