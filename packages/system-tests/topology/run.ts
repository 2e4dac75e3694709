// pnpm topology <name> …: runs the whole system in each of these topologies, or in `all`, and prints what was measured.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { topologies } from "./topologies.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const asked = process.argv.slice(2);
const names = asked.includes("all") ? Object.keys(topologies).filter((name) => !topologies[name]?.long) : asked;

const node = (...args: string[]): boolean =>
  spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status === 0;

function run(): boolean {
  const programs = names.flatMap((name) => topologies[name]?.programs ?? []);
  if (!node("packages/embedded/src/redis/ensure-redis.ts")) return false;
  if (!node("packages/testing/src/programs/ensure.ts", ...new Set(programs))) return false;
  const files = names.map((name) => `packages/system-tests/topology/${name}.test.ts`);
  return node("node_modules/vitest/vitest.mjs", "run", "--config", ".config/vitest.topology.config.ts", ...files);
}

if (names.length === 0 || names.some((name) => !Object.hasOwn(topologies, name))) {
  const width = Math.max(...Object.keys(topologies).map(({ length }) => length));
  const lines = Object.entries(topologies).map(([name, { what }]) => `  ${name.padEnd(width)}  ${what}`);
  process.stderr.write(`pnpm topology <name> … or all:\n${lines.join("\n")}\n`);
  process.exitCode = 1;
} else if (!run()) process.exitCode = 1;
