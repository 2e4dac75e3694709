import { randomUUID } from "node:crypto";
import type { Scope } from "@atlasqueue/contract";
import { createToken, defaultTenant } from "@atlasqueue/core/internal";
import { provisionTenant } from "@atlasqueue/core/internal/http";
import { requireTokens } from "../src/access/authenticate.ts";
import type { AppDeps } from "../src/app.ts";
import { testApp, type Changes, type Core } from "./test-app.ts";

/** The app with `AUTH=required`, over a clock that stands until it is moved. */
export async function guardedApp(given: Changes | ((core: Core) => Changes) = {}) {
  const clock = { ms: 1_000_000 };
  const api = await testApp((core) => ({
    authenticator: requireTokens({ ...core, now: () => clock.ms }),
    ...(typeof given === "function" ? given(core) : given),
  }));
  return { ...api, clock, token: (...scopes: Scope[]) => makeToken(api.deps, scopes) };
}

type Deps = Pick<AppDeps, "database" | "observe">;

/** A tenant of its own for a test. */
export async function makeTenant(deps: Deps): Promise<string> {
  return (await provisionTenant(deps, `${randomUUID()}@example.com`)).tenant;
}

/** A token of a tenant, and its id. */
export async function makeToken(
  deps: Deps,
  scopes: readonly Scope[],
  tenant: string = defaultTenant,
): Promise<{ id: string; token: string }> {
  const made = await createToken(deps, { tenant, name: "test", scopes });
  if (made.kind !== "created") throw new Error("the tenant has too many tokens");
  return { id: made.row.id, token: made.token };
}
