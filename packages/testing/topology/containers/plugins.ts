import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "./engine.ts";
import { mustRun, run } from "./run.ts";

/** Debian's release that has them as packages, for the machines that run an older one. */
const release = "trixie";

/**
 * Sees to it that this engine's `docker compose` and `docker buildx` are there: the machine's own, or, from Debian's
 * archive, in the engine's folder alone.
 */
export async function ensurePlugins({ env }: Engine, folder: string): Promise<void> {
  const there = async (name: string) => (await run("docker", [name, "version"], { env })).code === 0;
  if ((await there("compose")) && (await there("buildx"))) return;
  const own = join(folder, "plugins");
  if (!existsSync(own)) await download(own);
  const target = join(env["DOCKER_CONFIG"] ?? "", "cli-plugins");
  const source = join(own, "usr/libexec/docker/cli-plugins");
  for (const name of readdirSync(source)) cpSync(join(source, name), join(target, name));
  if (!(await there("compose"))) throw new Error("Compose does not run here, neither the machine's nor Debian's");
}

async function download(folder: string): Promise<void> {
  const at = (name: string) => join(folder, name);
  for (const name of ["lists/partial", "cache/archives/partial"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(
    at("sources.list"),
    `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${release} main\n`,
  );
  // Beside the machine's own packages, which stay as they are.
  const apart = [
    `Dir::Etc::SourceList=${at("sources.list")}`,
    "Dir::Etc::SourceParts=/dev/null",
    `Dir::State::Lists=${at("lists")}`,
    `Dir::Cache=${at("cache")}`,
    // The downloads are ours to read, and apt's own user may not enter a temporary folder.
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  await mustRun("apt-get", [...apart, "-qq", "update"], { timeout_ms: 180_000 });
  await mustRun("apt-get", [...apart, "-qq", "download", "docker-compose", "docker-buildx"], {
    cwd: folder,
    timeout_ms: 180_000,
  });
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".deb")))
    await mustRun("dpkg-deb", ["-x", at(name), folder]);
}
