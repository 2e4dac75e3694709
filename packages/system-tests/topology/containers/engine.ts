import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, findProgram } from "@atlasqueue/harness";
import { mustRun, run, type RunOptions } from "../harness/run.ts";

export type Engine = {
  /** The docker command, speaking to this engine. */
  docker(args: readonly string[], options?: RunOptions): Promise<string>;
  /** The environment that makes other programs speak to it. */
  env: Readonly<Record<string, string>>;
  /** Ends it and all its containers, and takes down what it mounted. */
  stop(): Promise<void>;
};

const start_ms_max = 60_000;
const stop_ms_max = 60_000;

/**
 * A Docker engine of our own, with all it has in this folder. Throws a plain sentence where none can run.
 *
 * @example
 * const engine = await startEngine("/tmp/containers");
 * console.log(await engine.docker(["ps"]));
 */
export async function startEngine(folder: string): Promise<Engine> {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    throw new Error("a container engine of one's own needs Linux and root");
  const program = findProgram("docker");
  if (program === undefined) throw new Error("there is no dockerd here; `pnpm topology containers` installs it");
  const socket = join(folder, "docker.sock");
  const config = join(folder, "config");
  mkdirSync(join(config, "cli-plugins"), { recursive: true });
  const env = { DOCKER_HOST: `unix://${socket}`, DOCKER_CONFIG: config };
  const args = [
    ["--host", `unix://${socket}`],
    ["--data-root", join(folder, "data")],
    ["--exec-root", join(folder, "exec")],
    ["--pidfile", join(folder, "dockerd.pid")],
    ["--storage-driver", "overlay2"],
  ];
  const child = spawn(program, args.flat(), { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said = `${said}${text}`.slice(-2_000)));
  let gone = false;
  const ended = once(child, "exit").then(() => (gone = true));
  const stop = async () => {
    const late = setTimeout(() => child.kill("SIGKILL"), stop_ms_max);
    child.kill("SIGTERM");
    await ended;
    clearTimeout(late);
    for (const mount of mountsIn(folder)) await run("umount", ["--lazy", mount]);
  };
  try {
    await eventually(
      async () => {
        if (!gone) await mustRun("docker", ["version"], { env });
      },
      { timeout_ms: start_ms_max },
    );
    if (gone) throw new Error("it ended at once");
  } catch (error) {
    await stop();
    throw new Error(`no container engine can run here (overlay, iptables, cgroups): ${said}`, { cause: error });
  }
  const docker = (words: readonly string[], options: RunOptions = {}) =>
    mustRun("docker", words, { ...options, env: { ...env, ...options.env } });
  return { docker, env, stop };
}

/** What is mounted below a folder, the innermost first. */
function mountsIn(folder: string): string[] {
  const lines = readFileSync("/proc/self/mounts", "utf8").split("\n");
  const mounts = lines.map((line) => line.split(" ")[1] ?? "").filter((path) => path.startsWith(`${folder}/`));
  return mounts.toSorted((one, other) => other.length - one.length);
}
