import { createToken as createTokenBody, rotateToken as rotateTokenBody } from "@atlasqueue/contract";
import {
  createToken,
  listTokens,
  revokeToken,
  rotateToken,
  showToken,
  type Deps,
  type MadeToken,
} from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerEmpty, answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/input/holder.ts";
import { readTokenId } from "../http/input/params.ts";
import { invalid, ProblemError } from "../http/answers/problem.ts";
import { refuseQuery } from "../http/input/query.ts";
import { readRequest } from "../http/body/request.ts";
import { tenantOf } from "../http/input/tenant.ts";

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
    const wish = { tenant: tenantOf(c), ...value, made_by: makerOf(c) };
    const outcome = await deps.gate.hold(holderOf(c), 0, () => createToken(deps, wish));
    switch (outcome.kind) {
      case "created":
        return answerMade(c, outcome);
      case "too_many":
        throw tooMany();
      case "outlives":
        throw outlives(value.expires_in_seconds, outcome.seconds_max);
      case "maker_gone":
        throw makerGone();
      default:
        return outcome satisfies never;
    }
  });

  routes.post("/tokens/:id/rotate", requires("admin"), async (c) => {
    const id = readTokenId(c);
    const { value } = await readRequest(c, rotateTokenBody, { bytes_max: deps.body_bytes_max });
    const wish = { tenant: tenantOf(c), id, ...value, made_by: makerOf(c) };
    const outcome = await deps.gate.hold(holderOf(c), 0, () => rotateToken(deps, wish));
    switch (outcome.kind) {
      case "rotated":
        return answerMade(c, outcome);
      case "unknown":
        throw unknown();
      case "rotated_before":
        throw new ProblemError("token_rotated", `${outcome.successor} took its place; rotate or revoke that one`);
      case "maker_gone":
        throw makerGone();
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

/** Who asks for a token. While nothing checks who calls, any page that reached us could walk away with one. */
function makerOf(c: ApiContext): string {
  const token_id = c.get("caller")?.token_id;
  if (token_id !== undefined) return token_id;
  throw new ProblemError(
    "forbidden",
    "With AUTH=disabled no tokens are made over HTTP; `atlasqueue tokens create` makes them, beside the database",
  );
}

/** The only answer that has the token itself. */
function answerMade(c: ApiContext, { token, row }: MadeToken): Response {
  return answerJson(c, 201, { ...showToken(row), token });
}

const unknown = () => new ProblemError("not_found", "There is no token with this id");
const makerGone = () =>
  new ProblemError("unauthorized", "The token was revoked or has expired", {
    headers: { "www-authenticate": 'Bearer realm="atlasqueue", error="invalid_token"' },
  });
const outlives = (given: number | undefined, seconds_max: number) =>
  invalid([
    {
      pointer: "/expires_in_seconds",
      message: `must be at most ${seconds_max}, as the token that asks expires then; got ${given}`,
    },
  ]);
const tooMany = () => new ProblemError("too_many_tokens", "Revoke one that is not used any more");
