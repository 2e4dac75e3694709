// ensure.ts <name> …: run before tests that need these programs. Silent when all are there; as root on Debian it installs
// what is missing; otherwise it prints the command that does, and fails.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findProgram, installCommand, programs, type ProgramName } from "./programs.ts";

const asked = process.argv.slice(2).map((name) => {
  if (!Object.hasOwn(programs, name)) throw new Error(`"${name}" is none of ${Object.keys(programs).join(", ")}`);
  return name as ProgramName;
});
const missing = () => asked.filter((name) => findProgram(name) === undefined);
const called = (names: readonly ProgramName[]) => names.map((name) => programs[name].what).join(" and ");

const wanted = missing();
if (wanted.length > 0) {
  if (process.getuid?.() === 0 && existsSync("/etc/debian_version")) install(wanted);
  const left = missing();
  if (left.length > 0) {
    console.error(`The tests need ${called(left)}. Install with:\n  ${installCommand(left)}`);
    process.exitCode = 1;
  }
}

function install(names: readonly ProgramName[]): void {
  const packages: string[] = names.map((name) => programs[name].package.debian);
  console.log(`No ${called(names)} here: installing ${packages.join(" ")} with apt-get.`);
  // A stale list names packages gone from the mirror; after a failed update it may still be good enough.
  aptGet("update");
  aptGet("install", "-y", "--no-install-recommends", ...packages);
  // Debian starts what it installs, and no one asked for a server that stays.
  for (const service of ["pgbouncer", "valkey-server", "prometheus"].filter((name) => packages.includes(name)))
    spawnSync("sh", ["-c", `{ systemctl disable --now ${service} || service ${service} stop; } >/dev/null 2>&1`]);
}

function aptGet(...args: string[]): void {
  spawnSync("env", ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", ...args], { stdio: "inherit" });
}
