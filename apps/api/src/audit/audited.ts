import { NoRoomError, StorageFullError, TooManyQueuesError } from "@atlasqueue/core/internal";
import { ProblemError } from "../http/answers/problem.ts";
import type { ApiContext } from "../http/context.ts";
import type { Operation } from "../route/operation.ts";
import type { Input } from "../route/read.ts";
import { actAfter, actBefore } from "./act-of.ts";
import type { Auditor } from "./auditor.ts";

/**
 * Does what an operation does, with its entry in the audit trail stored before, and completed before the answer. So a
 * process that dies in between leaves an entry that says it was begun; one that was refused, or changed nothing, leaves
 * none.
 */
export async function audited(
  c: ApiContext,
  operation: Operation,
  input: Input,
  auditor: Auditor,
  run: () => unknown,
): Promise<unknown> {
  const before = actBefore(c, operation, input);
  const begun = before && (await auditor.begin(before));
  let result: unknown;
  try {
    result = await run();
  } catch (error) {
    if (begun && isRefusal(error)) await auditor.end({ ...begun, done: false });
    throw error;
  }
  const act = actAfter(c, operation, input, result);
  if (begun) await auditor.end(act ? { ...act, id: begun.id, done: true } : { ...begun, done: false });
  else if (act) await auditor.record(act);
  return result;
}

/** Nothing was done. Of any other error there is no telling: some of it may have been. */
function isRefusal(error: unknown): boolean {
  return [ProblemError, NoRoomError, StorageFullError, TooManyQueuesError].some((kind) => error instanceof kind);
}
