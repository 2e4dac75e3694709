import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { unpackFromDebian } from "@atlasqueue/harness/programs";
import type { Engine } from "./engine.ts";
import { run } from "../harness/run.ts";

/**
 * Sees to it that this engine's `docker compose` and `docker buildx` are there: the machine's own, or, from Debian's
 * archive, in the engine's folder alone.
 */
export async function ensurePlugins({ env }: Engine, folder: string): Promise<void> {
  const there = async (name: string) => (await run("docker", [name, "version"], { env })).code === 0;
  if ((await there("compose")) && (await there("buildx"))) return;
  const own = join(folder, "plugins");
  if (!existsSync(own)) await unpackFromDebian(own, { packages: ["docker-compose", "docker-buildx"] });
  const target = join(env["DOCKER_CONFIG"] ?? "", "cli-plugins");
  const source = join(own, "usr/libexec/docker/cli-plugins");
  for (const name of readdirSync(source)) cpSync(join(source, name), join(target, name));
  if (!(await there("compose"))) throw new Error("Compose does not run here, neither the machine's nor Debian's");
}
