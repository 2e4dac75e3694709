import type { AuditAction } from "@atlasqueue/contract";
import type { Act } from "@atlasqueue/core/internal/http";
import { actorOf } from "../access/actor.ts";
import type { ApiContext, Caller } from "../http/context.ts";
import type { Operation } from "../route/operation.ts";
import type { Input } from "../route/read.ts";
import type { Asked, Told } from "./told.ts";

const no_target = { id: undefined, queue: undefined, name: undefined };

/** What is kept of a call before it is done; undefined for one that will change nothing, or whose caller is not known. */
export function actBefore(c: ApiContext, { audit }: Operation, input: Input): Act | undefined {
  const caller = c.get("caller");
  if (!audit || !caller) return undefined;
  const asked: Asked | false = audit.asks ? audit.asks(input as never) : {};
  return asked === false ? undefined : actOf(c, audit.action, input, caller, asked);
}

/** What is kept of a call that has been answered; undefined for one that changed nothing. */
export function actAfter(c: ApiContext, { audit }: Operation, input: Input, result: unknown): Act | undefined {
  if (!audit) return undefined;
  const known = c.get("caller");
  const asked: Asked | false = audit.asks ? audit.asks(input as never) : {};
  const told: Told | undefined = audit.tells ? audit.tells({ ...input, caller: known } as never, result as never) : {};
  const caller = told?.caller ?? known;
  if (asked === false || !told || !caller) return undefined;
  return actOf(c, audit.action, input, caller, { ...asked, ...told });
}

/**
 * What is kept of a call whose token lacks the scope; undefined where calls are not kept, or no token was shown. Nothing of
 * the request was checked yet, so its target is only what the path says.
 */
export function actRefused(c: ApiContext, { audit, request }: Operation): Act | undefined {
  const caller = c.get("caller");
  if (!audit || caller?.token_id === undefined) return undefined;
  return actOf(c, audit.action, { path: request?.path?.safeParse(c.req.param()).data }, caller, {});
}

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
