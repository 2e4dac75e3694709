import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { mustRunAs, uidOf } from "./as-user.ts";
import { canAs, serverIdentity, type Identity } from "./identity.ts";

/** Where the data really is, and who may touch it: only that user changes anything in there, root least of all. */
export type DataFolder = { readonly dataDir: string; readonly identity: Identity | undefined };

/** What a server's folder looks like. */
export type FolderKind = {
  /** Completes "… is neither empty nor a". */
  readonly name: string;
  /** Whether these entries are a server's data, which must not silently be replaced by an empty folder. */
  isData(entries: readonly string[]): boolean;
  /** Files that a start may have left in a folder without data. */
  readonly ours: RegExp;
};

const systemFolder = "/var/lib/atlasqueue";

/**
 * The wanted folder, made and given to the user the server runs as. When we are root and that user can't get there (a
 * clone under /root), an empty start goes to /var/lib/atlasqueue/<hash of the wanted path> instead; data that already
 * exists is never silently left behind: that throws.
 */
export function placeFolder(wanted: string, kind: FolderKind): DataFolder {
  const path = resolve(wanted);
  const identity = serverIdentity(path);
  if (!identity) return own(path, kind);
  makeParent(path, identity);
  if (canAs(identity, "-x", dirname(path))) return prepare(path, identity, kind);
  if (existsSync(path) && kind.isData(readdirSync(path))) {
    throw new Error(`the user with id ${identity.uid} can't reach the data in ${path}: move it elsewhere`);
  }
  const instead = insteadOf(path);
  mkdirSync(systemFolder, { recursive: true, mode: 0o755 });
  const settled = serverIdentity(instead);
  return settled ? prepare(instead, settled, kind) : own(instead, kind);
}

const insteadOf = (path: string) => join(systemFolder, createHash("sha256").update(path).digest("hex").slice(0, 16));

/** Where a folder's data may be, by the name it was wanted under: there, or where a root's start put it. */
export function placesOf(wanted: string): string[] {
  return [resolve(wanted), insteadOf(resolve(wanted))];
}

/** We are not root: what is there is ours, or we can't use it. */
function own(path: string, kind: FolderKind): DataFolder {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // Links resolved, so that an orphan's path compares equal to ours.
  const dataDir = realpathSync(path);
  mustBeWritable(dataDir, undefined);
  mustBeOurs(dataDir, readdirSync(dataDir), kind);
  return { dataDir, identity: undefined };
}

/** The folders above, each made by the owner of its parent. */
function makeParent(path: string, identity: Identity): void {
  const parent = dirname(path);
  const nearest = nearestExisting(parent);
  if (nearest === parent) return;
  if (statSync(nearest).uid === 0) mkdirSync(parent, { recursive: true });
  else mustRunAs(identity, 'mkdir -p -m 755 -- "$1"', [parent]);
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

/** We are root, and the folder will be that user's. */
function prepare(path: string, identity: Identity, kind: FolderKind): DataFolder {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() && found.uid !== 0 && found.uid !== statSync(path).uid) {
    throw new Error(`${path} is a link that the user with id ${found.uid} made to a folder of another user`);
  }
  if (!found) {
    if (statSync(dirname(path)).uid === 0) mkdirSync(path, { mode: 0o700 });
    else mustRunAs(identity, 'mkdir -m 700 -- "$1"', [path]);
  }
  const dataDir = realpathSync(path);
  if (statSync(dataDir).uid === 0) give(dataDir, identity, kind);
  mustBeWritable(dataDir, identity);
  mustBeOurs(dataDir, readdirSync(dataDir), kind);
  return { dataDir, identity };
}

/**
 * Gives root's folder, and everything in it, to that user. Only what root alone could have put there, and by its
 * descriptor: a path may lead elsewhere a moment later.
 */
function give(folder: string, { uid, gid }: Identity, kind: FolderKind): void {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const { uid: owner, mode } = fstatSync(descriptor);
    const held = `/proc/${process.pid}/fd/${descriptor}`;
    const place = existsSync(held) ? held : folder;
    if (owner !== 0) throw new Error(`${folder} changed its owner meanwhile`);
    const entries = readdirSync(place);
    mustBeOurs(folder, entries, kind);
    if ((mode & 0o022) !== 0 && entries.length > 0) {
      throw new Error(
        `${folder} is root's, but others may write there: chmod go-w ${folder}, after a look at what is in it`,
      );
    }
    fchmodSync(descriptor, 0o700);
    const options = { encoding: "utf8", cwd: place } as const;
    const { status, stderr } = spawnSync("chown", ["-hR", `${uid}:${gid}`, "."], options);
    if (status !== 0) throw new Error(`could not give ${folder} to the user with id ${uid}: ${stderr}`);
  } finally {
    closeSync(descriptor);
  }
}

function mustBeWritable(dataDir: string, identity: Identity | undefined): void {
  if (canAs(identity, "-w", dataDir)) return;
  throw new Error(`${dataDir} can't be written by the user with id ${uidOf(identity)}`);
}

/** A mistyped path must not cost anyone their files, nor change their owner. */
function mustBeOurs(dataDir: string, entries: readonly string[], kind: FolderKind): void {
  if (kind.isData(entries) || entries.every((entry) => kind.ours.test(entry))) return;
  throw new Error(`${dataDir} is neither empty nor a ${kind.name}`);
}
