import { hash, timingSafeEqual } from "node:crypto";
import { openQueueProvision, type OpenQueueProvisioned } from "@atlasqueue/contract";
import { localPermits, provisionTenant, type Deps, type RateLimit } from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { networkOf } from "../http/input/address.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/input/holder.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { readRequest } from "../http/body/request.ts";

/** Of one network. A wrong secret costs as much as twelve calls with the right one. */
const calls: RateLimit = { limit: 120, period_ms: 60_000 };
const wrong_cost = 11;

export type ProvisionDeps = Deps & { gate: Gate; admin_secret?: string | undefined; body_bytes_max: number };

/**
 * `POST /admin/provision`, as OpenQueue has it: a tenant and a token for an email, for whoever knows the admin secret.
 * The same email again gets another token of the same tenant, as the first one is not kept.
 */
export function provisionRoutes(deps: ProvisionDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const draw = localPermits();

  routes.post("/admin/provision", async (c) => {
    if (deps.admin_secret === undefined)
      throw new ProblemError("unavailable", "Provisioning is off: ADMIN_SECRET is not set");
    const from = networkOf(c);
    const [permit] = draw(from, [1], calls);
    if (!permit?.allowed) {
      deps.observe({ event: "provision_throttled", network: from });
      throw new ProblemError("rate_limited", "Too many calls from this address; a wrong secret counts more than once", {
        headers: { "retry-after": String(Math.ceil((permit?.retry_after_ms ?? calls.period_ms) / 1_000)) },
      });
    }
    if (!sameSecret(c.req.header("x-admin-secret") ?? "", deps.admin_secret)) {
      draw(from, [wrong_cost], calls);
      deps.observe({ event: "provision_refused", network: from });
      throw new ProblemError("forbidden", "X-Admin-Secret is missing or wrong");
    }
    const { value } = await readRequest(c, openQueueProvision, { bytes_max: deps.body_bytes_max });
    return provision(c, deps, value.email);
  });

  return routes;
}

async function provision(c: ApiContext, deps: ProvisionDeps, email: string): Promise<Response> {
  const { created, token } = await deps.gate.hold(holderOf(c), 0, () => provisionTenant(deps, email));
  if (token.kind !== "created") throw new ProblemError("too_many_tokens", "The tenant has as many tokens as it may");
  return answerJson(c, 200, { token: token.token, email, created } satisfies OpenQueueProvisioned);
}

/** Digests are of one length whatever was sent, and comparing them takes as long wherever they differ. */
function sameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

const digest = (text: string) => hash("sha256", text, "buffer");
