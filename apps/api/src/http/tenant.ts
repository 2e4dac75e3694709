import { defaultTenant } from "@atlasqueue/core";
import type { ApiContext } from "./context.ts";

/** Whose jobs a request may touch. Every handler asks here, so that a token can answer it. */
export function tenantOf(_c: ApiContext): string {
  return defaultTenant;
}
