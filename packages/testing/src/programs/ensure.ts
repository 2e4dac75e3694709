// ensure.ts <name> …: run before tests that need these programs. Silent when all are there; as root on Debian it installs
// what is missing, or unpacks it from Debian's newest release; otherwise it prints the command that does, and fails.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { commandOf, hasDebian, unpackFromDebian } from "./from-debian.ts";
import { findProgram, installCommand, programs, unpackedFolder, type ProgramName } from "./programs.ts";

const asked = process.argv.slice(2).map((name) => {
  if (!Object.hasOwn(programs, name)) throw new Error(`"${name}" is none of ${Object.keys(programs).join(", ")}`);
  return name as ProgramName;
});
const missing = () => asked.filter((name) => findProgram(name) === undefined);
const called = (names: readonly ProgramName[]) => names.map((name) => programs[name].what).join(" and ");

/** Those that may be newer than what this machine's release has. */
const fromNewest = () => missing().filter((name) => "newest" in programs[name]);

if (missing().length > 0) {
  if (process.getuid?.() === 0 && hasDebian()) {
    for (const name of fromNewest()) await unpack(name);
    if (missing().length > 0) install(missing());
  }
  const left = missing();
  if (left.length > 0) {
    console.error(`The tests need ${called(left)}. Install with:\n  ${installCommand(left)}`);
    process.exitCode = 1;
  }
}

function install(names: readonly ProgramName[]): void {
  const packages = names.flatMap((name) => programs[name].package.debian.split(" "));
  console.log(`No ${called(names)} here: installing ${packages.join(" ")} with apt-get.`);
  // A stale list names packages gone from the mirror; after a failed update it may still be good enough.
  aptGet("update");
  aptGet("install", "-y", "--no-install-recommends", ...packages);
  // Debian starts what it installs, and no one asked for a server that stays.
  for (const service of ["pgbouncer", "valkey-server", "prometheus", "haproxy", "nginx", "etcd"].filter((name) =>
    packages.some((one) => one === name || one === `${name}-server`),
  ))
    spawnSync("sh", ["-c", `{ systemctl disable --now ${service} || service ${service} stop; } >/dev/null 2>&1`]);
}

/** Beside the machine's own packages, which stay as they are. */
async function unpack(name: ProgramName): Promise<void> {
  const {
    what,
    package: packages,
    newest = "",
  }: { what: string; package: { debian: string }; newest?: string } = programs[name];
  console.log(`No ${what} here: unpacking that of Debian's newest release.`);
  const folder = unpackedFolder(name);
  rmSync(folder, { recursive: true, force: true });
  try {
    await unpackFromDebian(folder, { packages: [packages.debian], with_dependencies: true });
    commandOf(folder, newest);
  } catch (error) {
    console.error(String(error));
  }
}

function aptGet(...args: string[]): void {
  spawnSync("env", ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", ...args], { stdio: "inherit" });
}
