import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The user a server runs as; where it is undefined, that is the user we are. */
export type Identity = { readonly uid: number; readonly gid: number };

/**
 * Who PostgreSQL runs as: ourselves, unless we are root, which it refuses. Then whoever owns the data already there
 * (somebody ran this without sudo before), else the user `postgres`, else `nobody`. Throws when there is no such user.
 */
export function serverIdentity(dataDir: string): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const identity = ownerOfData(dataDir) ?? userNamed("postgres") ?? userNamed("nobody");
  if (identity) return identity;
  throw new Error(
    "PostgreSQL refuses to run as root, and /etc/passwd has neither a user postgres nor nobody to run it as",
  );
}

/** Whether `test <flag> <path>` holds for that user: tried, because modes, ACLs and mounts can't be guessed. */
export function canAs(identity: Identity | undefined, flag: "-x" | "-r" | "-w", path: string): boolean {
  const options = { cwd: "/", ...identity };
  return spawnSync("sh", ["-c", `test ${flag} "$1"`, "sh", path], options).status === 0;
}

function ownerOfData(dataDir: string): Identity | undefined {
  const { uid, gid } = statSync(join(dataDir, "PG_VERSION"), { throwIfNoEntry: false }) ?? {
    uid: 0,
    gid: 0,
  };
  return uid === 0 ? undefined : { uid, gid };
}

function userNamed(name: string): Identity | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  if (!line) return undefined;
  const [, , uid, gid] = line.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}
