import { hash, timingSafeEqual } from "node:crypto";
import { openQueueProvision, openQueueProvisioned, describeFields } from "@atlasqueue/contract";
import { provisionTenant } from "@atlasqueue/core/internal/http";
import { z } from "zod";
import { countFailure } from "../access/charge.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { networkOf } from "../http/input/address.ts";
import { ok } from "../route/answers.ts";
import { route, type Guard } from "../route/route.ts";

/** Of wrong secrets, per network. The right one is never refused: all callers behind a proxy may be one network. */
const wrong = {
  what: "wrong secrets",
  throttled: "provision_throttled",
  rate: { limit: 10, period_ms: 60_000 },
} as const;

/** Lets in callers that know the admin secret, before anything they sent is read. */
const requiresAdminSecret: Guard = (c, deps) => {
  const { admin_secret, observe } = deps;
  if (admin_secret === undefined) throw new ProblemError("unavailable", "Provisioning is off: ADMIN_SECRET is not set");
  if (sameSecret(c.req.header("x-admin-secret") ?? "", admin_secret)) return;
  countFailure(c, deps, wrong);
  observe({ event: "provision_refused", network: networkOf(c) });
  throw new ProblemError("forbidden", "X-Admin-Secret is missing or wrong");
};

/**
 * As in OpenQueue: a tenant and a token for an email. The same email again gets another token of the same tenant, as
 * the first one is not kept.
 */
export const provision = route(
  {
    at: "POST /admin/provision",
    id: "openQueueProvision",
    tag: "OpenQueue",
    summary: "Create a tenant and a token",
    description:
      "For an email address. The same address again gets another token of the same tenant. Off unless ADMIN_SECRET is set.",
    request: {
      headers: describeFields(
        z.strictObject({ "X-Admin-Secret": z.string().describe("the ADMIN_SECRET of the server") }),
        {
          "X-Admin-Secret": "Shows that the caller may create tenants.",
        },
      ),
      body: { schema: openQueueProvision, example: { email: "a@b.example" } },
    },
    answers: ok("The token; no other answer shows it again.", openQueueProvisioned),
    problems: ["forbidden", "too_many_tokens", "unavailable"],
  },
  async ({ deps, body: { email }, context }) => {
    const { tenant, created, token } = await provisionTenant(deps, email);
    if (token.kind !== "created") throw new ProblemError("too_many_tokens", "The tenant has as many tokens as it may");
    const actor = { kind: "operator", token_id: null, name: null } as const;
    const detail = { created };
    await deps.auditor.record({
      tenant,
      actor,
      action: "tenant.provision",
      target: token.row.id,
      count: null,
      detail,
      refused: null,
      request_id: context.get("api_request_id"),
      address: context.get("client_address"),
    });
    return { token: token.token, email, created };
  },
  requiresAdminSecret,
);

/** Digests have the same length whatever was sent, and comparing them takes the same time wherever they differ. */
const sameSecret = (given: string, secret: string): boolean => timingSafeEqual(digest(given), digest(secret));

const digest = (text: string) => hash("sha256", text, "buffer");
