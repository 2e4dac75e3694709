import { errorData, storableResult, type Json, type LogLine } from "@atlasqueue/contract";
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

function storable(returned: unknown): Outcome {
  const checked = storableResult(returned);
  if (checked.kind === "refused") return failed(checked.reason, "ResultError");
  return { kind: "succeeded", result: checked.result, bytes: checked.bytes };
}
