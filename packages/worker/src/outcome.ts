import { errorData, findFaults, limits, type Json, type LogLine } from "@atlasqueue/contract";
import { errorText, storableText } from "@atlasqueue/core";
import { DoNotRetryError, RetryAfterError, type Handler } from "./handler.ts";

/** How a handler ended. Plain data: it crosses from process to process. */
export type Outcome =
  /** `bytes` is the length of the result as JSON. */
  | { kind: "succeeded"; result: Json; bytes: number; log?: LogLine[] | undefined }
  | {
      kind: "failed";
      error: string;
      error_data?: Json | undefined;
      retryable: boolean;
      delay_ms?: number | undefined;
      log?: LogLine[] | undefined;
    };

/** What was thrown, as the failure of an attempt. `name` takes the place of an error's own. */
export function failed(thrown: unknown, name?: string): Outcome {
  const error = name && thrown instanceof Error ? storableText(`${name}: ${thrown.message}`) : errorText(thrown);
  const failure = { kind: "failed", error, error_data: errorData(thrown) } as const;
  if (thrown instanceof RetryAfterError) return { ...failure, retryable: true, delay_ms: thrown.delay_ms };
  return { ...failure, retryable: !(thrown instanceof DoNotRetryError) };
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
