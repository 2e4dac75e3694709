import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import type { Result } from "./result.ts";

const packages = ["bullmq", "pg-boss", "graphile-worker", "pg", "postgres", "ioredis"];

export function readMachine(): Result["machine"] {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? "unknown",
    cores: all.length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
  };
}

/** Versions of the servers, Node, and the installed peers and drivers. */
export function readVersions(servers: { postgres: string; redis: string }): Record<string, string> {
  const installed = packages.map((name): [string, string] => {
    const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
    return [name, (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version];
  });
  return {
    PostgreSQL: servers.postgres,
    Redis: servers.redis,
    Node: process.versions.node,
    ...Object.fromEntries(installed),
  };
}
