import type { AuditAction } from "@atlasqueue/contract";
import {
  cameAfterAPart,
  NoRoomError,
  StorageFullError,
  TooManyQueuesError,
  type Act,
  type ActRow,
} from "@atlasqueue/core/internal/http";
import { ProblemError } from "../http/answers/problem.ts";
import { actorOf } from "../access/caller.ts";
import type { ApiContext, Caller } from "../http/context.ts";
import type { Operation } from "../route/operation.ts";
import type { Input } from "../route/read.ts";
import type { Auditor } from "./auditor.ts";
import type { Told } from "./told.ts";
import { begunUnderKey } from "./under-key.ts";

/**
 * Does what an operation does, with its entry in the audit trail stored before, and completed before the answer. So a
 * process that dies in between leaves an entry that says it was begun; an act that was refused, or changed nothing,
 * leaves none here. Under an idempotency key that was used for the same before, `run` is given what was done then.
 */
export async function audited(
  c: ApiContext,
  { audit }: Operation,
  input: Input,
  auditor: Auditor,
  run: (repeated: ActRow | undefined) => unknown,
): Promise<unknown> {
  const asked = audit?.asks ? audit.asks(input as never) : {};
  if (!audit || asked === false) return run(undefined);
  const entry = (told: Told, caller = told.caller ?? c.get("caller")): Act | undefined =>
    caller && actOf(c, audit.action, input, caller, told);
  const before = entry(asked);
  const key = input.idempotency_key;
  const start = before && key !== undefined ? await begunUnderKey(auditor, before, key, input) : undefined;
  if (start && "repeated" in start) return run(start.repeated);
  const begun = start?.begun ?? (before && (await auditor.begin(before)));
  let result: unknown;
  try {
    result = await run(undefined);
  } catch (error) {
    const outcome = isRefusal(error) ? "nothing_changed" : "failed";
    if (begun && (outcome === "nothing_changed" || key !== undefined)) await auditor.end({ ...begun, outcome });
    throw error;
  }
  const told = audit.tells ? audit.tells({ ...input, caller: c.get("caller") } as never, result as never) : {};
  const act = told && entry({ ...asked, ...told });
  if (begun)
    await auditor.end(act ? { ...act, id: begun.id, outcome: "done" } : { ...begun, outcome: "nothing_changed" });
  else if (act) await auditor.record(act);
  return result;
}

/** Does what an operation does, with an entry in the audit trail if the caller's token does not allow it. */
export async function withRefusals(
  c: ApiContext,
  operation: Operation,
  auditor: Auditor,
  run: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await run();
  } catch (error) {
    const forbidden = error instanceof ProblemError && error.kind === "forbidden";
    const act = forbidden && actRefused(c, operation);
    if (act) await auditor.refuse(act);
    throw error;
  }
}

/** Nothing was done. Of any other error there is no telling: some of it may have been. */
function isRefusal(error: unknown): boolean {
  if (error instanceof NoRoomError && cameAfterAPart(error)) return false;
  return [ProblemError, NoRoomError, StorageFullError, TooManyQueuesError].some((kind) => error instanceof kind);
}

const no_target = { id: undefined, queue: undefined, name: undefined };

/**
 * What is kept of a call whose token lacks the scope; undefined where calls are not kept, or no token was shown. Nothing of
 * the request was checked yet, so its target is only what the path says.
 */
function actRefused(c: ApiContext, { audit, request }: Operation): Act | undefined {
  const caller = c.get("caller");
  if (!audit || caller?.token_id === undefined) return undefined;
  return actOf(c, audit.action, { path: request?.path?.safeParse(c.req.param()).data }, caller, {});
}

/** What is kept of a call: who makes it, what its path names, and what else it says. */
function actOf(c: ApiContext, action: AuditAction, input: Pick<Input, "path">, caller: Caller, told: Told): Act {
  const { id, queue, name } = (input.path ?? no_target) as Record<string, string | undefined>;
  return {
    tenant: caller.tenant,
    actor: actorOf(caller),
    action,
    target: told.target ?? id ?? queue ?? name ?? null,
    count: told.count ?? null,
    detail: told.detail ?? null,
    request_id: c.get("api_request_id"),
    address: c.get("client_address"),
    refused: null,
  };
}
