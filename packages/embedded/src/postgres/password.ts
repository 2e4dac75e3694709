import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readPlain, writeAs } from "../process/as-user.ts";
import { placesOf, type DataFolder } from "../process/data-folder.ts";

/** In a server's folder, each of mode 0600 and owned by its user: what a person needs to get in. */
export const passwordFile = "atlasqueue.password";
export const urlFile = "atlasqueue.url";

/** 192 bits, in characters that need no quoting in SQL, a shell, a URL or Redis' configuration. */
export function newPassword(): string {
  return randomBytes(24).toString("base64url");
}

/** The password kept in a folder; undefined when there is none. Throws when something else is there. */
export function readPassword({ dataDir }: DataFolder): string | undefined {
  const file = join(dataDir, passwordFile);
  const kept = readPlain(file)?.trim();
  if (kept === undefined || /^[\w-]{20,200}$/.test(kept)) return kept;
  throw new Error(`${file} holds no password: remove it, and the next start sets another`);
}

export function keepPassword({ dataDir, identity }: DataFolder, password: string): void {
  writeAs(identity, join(dataDir, passwordFile), `${password}\n`);
}

/** Where the server is now, password included: the port differs on every start. */
export function keepUrl({ dataDir, identity }: DataFolder, url: string): void {
  writeAs(identity, join(dataDir, urlFile), `${url}\n`);
}

/**
 * Where the server of a data folder listens, as its last start wrote it down; undefined when none ever did. It may have
 * been stopped since.
 *
 * @example
 * const url = lastUrl(".atlasqueue/postgres");
 */
export function lastUrl(dataDir: string): string | undefined {
  for (const place of placesOf(dataDir)) {
    const url = readPlain(join(place, urlFile))?.trim();
    if (url) return url;
  }
  return undefined;
}
