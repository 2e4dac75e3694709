import type { Written } from "./commands.ts";

/** Runs that once failed, as they were printed. */
export const examples: Readonly<Record<string, readonly Written[]>> = {};
