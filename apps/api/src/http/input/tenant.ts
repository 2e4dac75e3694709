import type { ApiContext } from "../context.ts";

/** Whose jobs a request may touch: its caller's. Throws on a route that does not say what it `requires`. */
export function tenantOf(c: ApiContext): string {
  const caller = c.get("caller");
  if (!caller) throw new Error(`${c.req.method} ${c.req.path} asks for a tenant, but requires no scope`);
  return caller.tenant;
}
