// Run before the tests: they need a real Redis. Silent when there is one; as root on Debian or Ubuntu it installs one;
// otherwise it prints the command that does, and fails.
import { spawnSync } from "node:child_process";
import { findRedisServer, installCommand, isDebian } from "./find-redis.ts";
import { redisAnswers } from "./redis-ping.ts";

if (!findRedisServer()) {
  const isRoot = process.getuid?.() === 0;
  if (!(isRoot && isDebian() && (await install()))) {
    console.error(`The tests need redis-server or valkey-server on PATH. Install it with:\n  ${installCommand()}`);
    process.exitCode = 1;
  }
}

async function install(): Promise<boolean> {
  console.log("No redis-server or valkey-server on PATH: installing redis-server with apt-get.");
  const usedBefore = await redisAnswers(6379);
  // A stale list names packages gone from the mirror; after a failed update it may still be good enough.
  aptGet("update");
  aptGet("install", "-y", "--no-install-recommends", "redis-server");
  // Debian starts what it installs. The tests start their own, and no one asked for one that stays.
  if (!usedBefore && (await redisAnswers(6379))) stopService();
  return findRedisServer() !== undefined;
}

function aptGet(...args: string[]): void {
  spawnSync("env", ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", ...args], {
    stdio: "inherit",
  });
}

function stopService(): void {
  const ways = "systemctl disable --now redis-server || service redis-server stop || redis-cli shutdown nosave";
  spawnSync("sh", ["-c", `{ ${ways}; } >/dev/null 2>&1`]);
}
