import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Debian's newest stable release: what an older machine has not, or has too old, is taken from here. */
const release = "trixie";

/** Whether this machine has apt, and with it Debian's keys. */
export const hasDebian = () => existsSync("/etc/debian_version");

export type Wish = {
  packages: readonly string[];
  /** With everything that they need, down to the C library: for what must run on an older one. */
  with_dependencies?: boolean;
};

/**
 * Unpacks packages of Debian's newest release into a folder, which must not be there yet. The machine's own packages
 * stay as they are.
 *
 * @example
 * await unpackFromDebian("/tmp/newer", { packages: ["docker-compose"] });
 */
export async function unpackFromDebian(folder: string, { packages, with_dependencies = false }: Wish): Promise<void> {
  const target = `${resolve(folder)}.part`;
  rmSync(target, { recursive: true, force: true });
  const apt = join(target, "apt");
  for (const name of ["lists/partial", "archives/partial"]) mkdirSync(join(apt, name), { recursive: true });
  const source = `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${release} main\n`;
  writeFileSync(join(apt, "sources.list"), source);
  // No package is there, as far as it knows: so all that are needed come along.
  writeFileSync(join(apt, "status"), "");
  const apart = [
    `Dir::Etc::SourceList=${join(apt, "sources.list")}`,
    "Dir::Etc::SourceParts=/dev/null",
    `Dir::State::Lists=${join(apt, "lists")}`,
    `Dir::State::status=${join(apt, "status")}`,
    `Dir::Cache=${apt}`,
    // The downloads are ours to read, and apt's own user may not enter a temporary folder.
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  const archives = join(apt, "archives");
  await run("apt-get", [...apart, "-qq", "update"]);
  if (with_dependencies)
    await run("apt-get", [...apart, "-qq", "-y", "--no-install-recommends", "--download-only", "install", ...packages]);
  else await run("apt-get", [...apart, "-qq", "download", ...packages], { cwd: archives });
  for (const name of readdirSync(archives).filter((each) => each.endsWith(".deb")))
    await run("dpkg-deb", ["-x", join(archives, name), target]);
  rmSync(apt, { recursive: true, force: true });
  renameSync(target, folder);
}

/**
 * Writes a command into the folder of the unpacked packages that runs one of their programs with their own C library; its
 * path. Of a folder of programs, each is replaced by such a command, as they call each other and find their files from
 * where they are.
 *
 * @example
 * const valkey = commandOf("/tmp/newer", "usr/bin/valkey-server");
 * const server = join(commandOf("/tmp/newer", "usr/lib/postgresql/17/bin"), "postgres");
 */
export function commandOf(folder: string, program: string): string {
  const root = resolve(folder);
  const [loader] = globSync("usr/lib/*-linux-gnu/ld-linux-*.so.*", { cwd: root });
  if (loader === undefined) throw new Error(`there is no C library in ${root}`);
  const [command, named] = [join(root, "command"), join(root, program)];
  const libraries = join(root, loader, "..");
  const write = (path: string, of: string) => {
    const options = `--argv0 "$0" --library-path '${libraries}'`;
    writeFileSync(path, `#!/bin/sh\nexec '${join(root, loader)}' ${options} '${of}' "$@"\n`);
    chmodSync(path, 0o755);
  };
  if (statSync(named).isDirectory()) {
    const programs = `${named}.programs`;
    renameSync(named, programs);
    mkdirSync(named);
    for (const name of readdirSync(programs)) write(join(named, name), join(programs, name));
    symlinkSync(named, command);
  } else write(command, named);
  return command;
}
