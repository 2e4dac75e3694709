import type { AuditAction } from "@atlasqueue/contract";
import type { Act } from "@atlasqueue/core/internal/http";
import { actorOf } from "../access/caller.ts";
import type { ApiContext, Caller } from "../http/context.ts";
import type { Operation } from "../route/operation.ts";
import type { Input } from "../route/read.ts";
import type { Told } from "./told.ts";

const no_target = { id: undefined, queue: undefined, name: undefined };

/**
 * What is kept of a call whose token lacks the scope; undefined where calls are not kept, or no token was shown. Nothing of
 * the request was checked yet, so its target is only what the path says.
 */
export function actRefused(c: ApiContext, { audit, request }: Operation): Act | undefined {
  const caller = c.get("caller");
  if (!audit || caller?.token_id === undefined) return undefined;
  return actOf(c, audit.action, { path: request?.path?.safeParse(c.req.param()).data }, caller, {});
}

/** What is kept of a call: who makes it, what its path names, and what else it says. */
export function actOf(c: ApiContext, action: AuditAction, input: Pick<Input, "path">, caller: Caller, told: Told): Act {
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
