import { findFaults, limits, readThrown, type Json, type LogLine, type Thrown } from "@atlasqueue/contract";
import type { Handler } from "./handler.ts";

/** How a handler ended. Plain data: it crosses from process to process. */
export type Outcome =
  /** `bytes` is the length of the result as JSON. */
  | { kind: "succeeded"; result: Json; bytes: number; log?: LogLine[] | undefined }
  | ({ kind: "failed"; log?: LogLine[] | undefined } & Thrown);

/** What was thrown, as the failure of an attempt. `name` takes the place of an error's own. */
export function failed(thrown: unknown, name?: string): Outcome {
  return { kind: "failed", ...readThrown(thrown, name) };
}

/** What a handler returned, as the success of an attempt; nothing of it when the handler's results are not kept. */
export function succeeded({ options }: Handler, returned: unknown): Outcome {
  return storable(options.keep_result === false ? null : returned);
}

/** A result as it will be read back: what JSON makes of it. Nothing (undefined) is null. */
function storable(returned: unknown): Outcome {
  if (returned === undefined || returned === null) return { kind: "succeeded", result: null, bytes: 4 };
  let text: string | undefined;
  try {
    text = JSON.stringify(returned);
  } catch (thrown) {
    return failed(thrown, "ResultError");
  }
  if (text === undefined) return failed(new Error(`a ${typeof returned} cannot be stored`), "ResultError");
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.result_bytes_max)
    return failed(
      new Error(`the result is ${bytes} bytes, at most ${limits.result_bytes_max} are stored`),
      "ResultError",
    );
  const result = JSON.parse(text) as Json;
  const fault = findFaults(result)[0];
  if (fault) return failed(new Error(`the result at ${fault.pointer || "/"} ${fault.message}`), "ResultError");
  return { kind: "succeeded", result, bytes };
}
