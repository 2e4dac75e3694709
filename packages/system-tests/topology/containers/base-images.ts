import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Engine } from "./engine.ts";
import { mustRun } from "../harness/run.ts";

const images = {
  node: "node:24-slim",
  postgres: "postgres:17",
  redis: "redis:7",
  prometheus: "prom/prometheus:v3.5.0",
} as const;
const script = fileURLToPath(new URL("stand-ins/build.sh", import.meta.url));

/**
 * Sees to it that the engine has the images that ours are built on, or run beside: the official ones, or stand-ins from Debian's packages
 * where no registry can be reached. Resolves with the names of the stand-ins.
 */
export async function ensureBaseImages({ docker, env }: Engine, folder: string): Promise<string[]> {
  const missing: string[] = [];
  for (const [name, image] of Object.entries(images)) {
    const has = () => docker(["image", "inspect", image]);
    const pull = () => docker(["pull", image], { timeout_ms: 300_000 });
    await has()
      .catch(pull)
      .catch(() => missing.push(name));
  }
  if (missing.length === 0) return [];
  const work = join(folder, "work");
  mkdirSync(work, { recursive: true });
  try {
    await mustRun(script, [work, ...missing], { env, timeout_ms: 900_000 });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return missing;
}
