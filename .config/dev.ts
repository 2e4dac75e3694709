import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

// pnpm dev: the whole system, started again after a change to its sources, and the dashboard's own server beside it.
const root = fileURLToPath(new URL("..", import.meta.url));
const api_url = `http://127.0.0.1:${process.env.API_PORT || "8000"}`;

const sources = [
  "apps/api",
  "apps/cli",
  "apps/mcp",
  "apps/worker",
  "packages/client",
  "packages/contract",
  "packages/core",
  "packages/runtime",
  "packages/worker",
  "packages/embedded",
];
const watched = sources.map((folder) => `--watch-path=${folder}/src`);

const children: ChildProcess[] = [];
let ending = false;
function run(folder: string, args: string[], env: Record<string, string>): void {
  const cwd = `${root}/${folder}`;
  const child = spawn(process.execPath, args, { cwd, stdio: "inherit", env: { ...process.env, ...env } });
  child.once("error", end);
  child.once("exit", end);
  children.push(child);
}
/** When one ends, or somebody wants it, all end. */
function end(): void {
  if (ending) return;
  ending = true;
  for (const child of children) child.kill("SIGTERM");
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);

// Its page comes from its own server, which builds nothing.
run(".", [...watched, "--watch-preserve-output", "apps/cli/src/main.ts", "start"], { DASHBOARD: "false" });
// Its own process: the shell of `node --run dev` would keep the signal to itself.
run("apps/dashboard", ["node_modules/vite/bin/vite.js"], { API_URL: api_url });
