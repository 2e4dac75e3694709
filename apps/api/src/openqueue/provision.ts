import { hash, timingSafeEqual } from "node:crypto";
import { openQueueProvision, type OpenQueueProvisioned } from "@atlasqueue/contract";
import { provisionTenant, type Deps } from "@atlasqueue/core";
import { Hono } from "hono";
import { answerJson } from "../http/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/holder.ts";
import { ProblemError } from "../http/problem.ts";
import { readRequest } from "../http/request.ts";

export type ProvisionDeps = Deps & { gate: Gate; admin_secret?: string | undefined; body_bytes_max: number };

/**
 * `POST /admin/provision`, as OpenQueue has it: a tenant and a token for an email, for whoever knows the admin secret.
 * The same email again gets another token of the same tenant, as the first one is not kept.
 */
export function provisionRoutes(deps: ProvisionDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post("/admin/provision", async (c) => {
    if (deps.admin_secret === undefined)
      throw new ProblemError("unavailable", "Provisioning is off: ADMIN_SECRET is not set");
    if (!sameSecret(c.req.header("x-admin-secret") ?? "", deps.admin_secret))
      throw new ProblemError("forbidden", "X-Admin-Secret is missing or wrong");
    const { value } = await readRequest(c, openQueueProvision, { bytes_max: deps.body_bytes_max });
    return provision(c, deps, value.email);
  });

  return routes;
}

async function provision(c: ApiContext, deps: ProvisionDeps, email: string): Promise<Response> {
  const { created, token } = await deps.gate.hold(holderOf(c), 0, () => provisionTenant(deps, email));
  if (token.kind === "too_many") throw new ProblemError("too_many_tokens", "The tenant has as many tokens as it may");
  return answerJson(c, 200, { token: token.token, email, created } satisfies OpenQueueProvisioned);
}

/** Digests are of one length whatever was sent, and comparing them takes as long wherever they differ. */
function sameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

const digest = (text: string) => hash("sha256", text, "buffer");
