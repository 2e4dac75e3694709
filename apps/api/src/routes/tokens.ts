import { createToken as createTokenBody, rotateToken as rotateTokenBody } from "@atlasqueue/contract";
import {
  createToken,
  listTokens,
  revokeToken,
  rotateToken,
  showToken,
  type Deps,
  type MadeToken,
} from "@atlasqueue/core";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerEmpty, answerJson } from "../http/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/holder.ts";
import { readTokenId } from "../http/params.ts";
import { ProblemError } from "../http/problem.ts";
import { refuseQuery } from "../http/query.ts";
import { readRequest } from "../http/request.ts";
import { tenantOf } from "../http/tenant.ts";

export type TokenRouteDeps = Deps & { gate: Gate; body_bytes_max: number };

/**
 * `/tokens` of the caller's tenant. A token may revoke itself: whoever finds that theirs has leaked must be able to
 * close the door behind them.
 */
export function tokenRoutes(deps: TokenRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get("/tokens", requires("admin"), async (c) => {
    refuseQuery(c);
    const rows = await deps.gate.hold(holderOf(c), 0, () => listTokens(deps, tenantOf(c)));
    return answerJson(c, 200, { items: rows.map(showToken) });
  });

  routes.post("/tokens", requires("admin"), async (c) => {
    const { value } = await readRequest(c, createTokenBody, { bytes_max: deps.body_bytes_max });
    const outcome = await deps.gate.hold(holderOf(c), 0, () => createToken(deps, { tenant: tenantOf(c), ...value }));
    if (outcome.kind === "too_many") throw tooMany();
    return answerMade(c, outcome);
  });

  routes.post("/tokens/:id/rotate", requires("admin"), async (c) => {
    const id = readTokenId(c);
    const { value } = await readRequest(c, rotateTokenBody, { bytes_max: deps.body_bytes_max });
    const outcome = await deps.gate.hold(holderOf(c), 0, () =>
      rotateToken(deps, { tenant: tenantOf(c), id, ...value }),
    );
    switch (outcome.kind) {
      case "rotated":
        return answerMade(c, outcome);
      case "unknown":
        throw unknown();
      case "too_many":
        throw tooMany();
      default:
        return outcome satisfies never;
    }
  });

  routes.delete("/tokens/:id", requires("admin"), async (c) => {
    refuseQuery(c);
    const id = readTokenId(c);
    if (!(await deps.gate.hold(holderOf(c), 0, () => revokeToken(deps, tenantOf(c), id)))) throw unknown();
    return answerEmpty(c);
  });

  return routes;
}

/** The only answer that has the token itself. */
function answerMade(c: ApiContext, { token, row }: MadeToken): Response {
  return answerJson(c, 201, { ...showToken(row), token });
}

const unknown = () => new ProblemError("not_found", "There is no token with this id");
const tooMany = () => new ProblemError("too_many_tokens", "Revoke one that is not used any more");
