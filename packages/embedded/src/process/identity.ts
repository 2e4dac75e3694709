import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** The user a server runs as; undefined means our own. */
export type Identity = { readonly uid: number; readonly gid: number };

/**
 * Who a server on this folder runs as: ourselves, unless we are root. Then the folder's owner, or else the owner of the
 * nearest folder above that is not root's (a clone in a user's home: that user could put anything there), then the user
 * `postgres`, then `nobody`. Throws when there is no such user.
 */
export function serverIdentity(folder: string | undefined): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const uid = folder === undefined ? 0 : ownerAbove(folder);
  const identity = uid === 0 ? (userNamed("postgres") ?? userNamed("nobody")) : userWithId(uid);
  if (identity) return identity;
  throw new Error("the servers never run as root, and /etc/passwd has no other user for them, such as postgres");
}

/** Whether `test <flag> <path>` holds for that user: tried, because modes, ACLs and mounts can't be guessed. */
export function canAs(identity: Identity | undefined, flag: "-x" | "-r" | "-w", path: string): boolean {
  const options = { cwd: "/", ...identity };
  return spawnSync("sh", ["-c", `test ${flag} "$1"`, "sh", path], options).status === 0;
}

/** The first owner other than root from the folder upwards; 0 when all of it is root's. */
function ownerAbove(folder: string): number {
  const uid = lstatSync(folder, { throwIfNoEntry: false })?.uid ?? 0;
  const above = dirname(folder);
  return uid !== 0 || above === folder ? uid : ownerAbove(above);
}

function userNamed(wanted: string): Identity | undefined {
  return users().find(({ name }) => name === wanted);
}

/** A folder's group may be root's; the server gets the user's own. */
function userWithId(wanted: number): Identity {
  const found = users().find(({ uid }) => uid === wanted);
  return found ? { uid: found.uid, gid: found.gid } : { uid: wanted, gid: wanted };
}

function users(): (Identity & { name: string })[] {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  return lines.flatMap((line) => {
    const [name = "", , uid, gid] = line.split(":");
    return uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}
