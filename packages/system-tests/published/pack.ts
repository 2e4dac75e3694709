import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { root } from "./examples.ts";
import { succeed } from "./run.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder with the archives. */
    archives: string;
  }
}

/** Vitest's globalSetup: packs what is built as `pnpm publish` would, once for all files. */
export default async function pack(project: TestProject): Promise<() => void> {
  const archives = mkdtempSync(join(tmpdir(), "atlasqueue-packed-"));
  // It packs no private packages.
  const private_ones = ["harness", "system-tests", "deploy", "bench", "faults", "dashboard", "docs"].map(
    (name) => `!@atlasqueue/${name}`,
  );
  const filters = ["./packages/*", "./apps/*", ...private_ones];
  const filtered = filters.flatMap((filter) => ["--filter", filter]);
  await succeed("pnpm", ["--recursive", ...filtered, "pack", "--pack-destination", archives], { cwd: root });
  project.provide("archives", archives);
  return () => rmSync(archives, { recursive: true, force: true });
}
