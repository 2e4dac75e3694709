/**
 * The driver with our patch (patches/). pnpm applies it in this repository and in the images; a published package gets
 * its dependencies unpatched, so the build puts the patched driver into `dist` and this file points there.
 * See decisions/2026-11-21-driver.md.
 */
export { default } from "postgres";

/** What our patch adds to a pool. */
export type Patched = { load(): { idle: number; busy: number; waiting: number }; retire(): void };
