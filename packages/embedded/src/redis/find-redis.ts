import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/**
 * The path of `redis-server` or `valkey-server` on PATH, in that order; undefined when there is neither.
 *
 * @example
 * const command = findRedisServer();
 * if (!command) console.log(installCommand());
 */
export function findRedisServer(): string | undefined {
  // The shell looks, so that we needn't split PATH here.
  const script = "command -v redis-server || command -v valkey-server";
  const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  return stdout?.trim() || undefined;
}

/** Whether packages are installed with apt-get here. */
export function isDebian(): boolean {
  return existsSync("/etc/debian_version");
}

/** The one command that installs a server on this machine. */
export function installCommand(platform: NodeJS.Platform = process.platform, debian = isDebian()): string {
  if (platform === "darwin") return "brew install redis";
  return debian ? "sudo apt-get install -y redis-server" : "sudo dnf install -y redis || sudo dnf install -y valkey";
}
