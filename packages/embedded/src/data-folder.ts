import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { canAs, serverIdentity, type Identity } from "./identity.ts";

/** Where the data really is, and who may touch it. */
export type DataFolder = { readonly dataDir: string; readonly identity: Identity | undefined };

const systemFolder = "/var/lib/atlasqueue";

/**
 * The wanted data directory, made and given to the user the server runs as. When we are root and that user can't get
 * there (a clone under /root), an empty start goes to /var/lib/atlasqueue/<hash of the wanted path> instead; data that
 * already exists is never left behind in silence: that throws.
 */
export function placeData(wanted: string): DataFolder {
  const path = resolve(wanted);
  const identity = serverIdentity(path);
  if (!identity || reachable(path, identity)) return prepare(path, identity);
  if (holdsData(path)) {
    throw new Error(`the user with id ${identity.uid} can't reach the data in ${path}: move it elsewhere`);
  }
  const hash = createHash("sha256").update(path).digest("hex").slice(0, 16);
  const instead = join(systemFolder, hash);
  mkdirSync(systemFolder, { recursive: true });
  chmodSync(systemFolder, 0o755);
  return prepare(instead, serverIdentity(instead));
}

/** Whether a directory is a PostgreSQL data directory. */
export function holdsData(dataDir: string): boolean {
  return existsSync(join(dataDir, "PG_VERSION"));
}

function reachable(path: string, identity: Identity): boolean {
  const parent = dirname(path);
  mkdirSync(parent, { recursive: true });
  return canAs(identity, "-x", parent);
}

function prepare(path: string, identity: Identity | undefined): DataFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // Links resolved, so that an orphan's own path compares equal with ours.
  const dataDir = realpathSync(path);
  if (identity && statSync(dataDir).uid !== identity.uid) {
    mustBeOurs(dataDir);
    give(dataDir, identity);
  }
  if (!canAs(identity, "-w", dataDir)) {
    throw new Error(`${dataDir} can't be written by the user with id ${identity?.uid ?? process.getuid?.()}`);
  }
  mustBeOurs(dataDir);
  return { dataDir, identity };
}

/** A mistyped path must not cost anybody their files' owner. */
function mustBeOurs(dataDir: string): void {
  if (holdsData(dataDir) || readdirSync(dataDir).length === 0) return;
  throw new Error(`${dataDir} is neither empty nor a PostgreSQL data directory`);
}

/** Makes a folder and all in it that user's. */
export function give(folder: string, { uid, gid }: Identity): void {
  const { status, stderr } = spawnSync("chown", ["-R", `${uid}:${gid}`, folder], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`could not give ${folder} to the user with id ${uid}: ${stderr}`);
}
