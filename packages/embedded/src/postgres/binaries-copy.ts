import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { cp, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Identity } from "../process/identity.ts";

/**
 * Copies the package's `native` folder (60 MB) to where that user can read it, once per version, and returns the folder
 * it is in. The copy is made under another name and renamed, so no one sees half a copy.
 */
export async function copyForUser(
  packageFolder: string,
  version: string,
  identity: Identity | undefined,
): Promise<string> {
  const uid = identity?.uid ?? process.getuid?.() ?? 0;
  const copy = join(tmpdir(), `atlasqueue-postgres-${version}-${uid}`);
  const entry = lstatSync(copy, { throwIfNoEntry: false });
  if (entry) {
    // The name can be guessed, and anyone may write to the temporary folder: run only what we put there ourselves.
    if (!entry.isDirectory() || entry.uid !== process.getuid?.()) {
      throw new Error(`${copy} belongs to another user: remove it`);
    }
    if (isComplete(packageFolder, copy)) return copy;
    await rm(copy, { recursive: true, force: true });
  }

  const draft = await mkdtemp(`${copy}.`);
  try {
    await cp(join(packageFolder, "native"), join(draft, "native"), {
      recursive: true,
      verbatimSymlinks: true,
    });
    spawnSync("chmod", ["-R", "u+rwX,go+rX,go-w", draft]);
    await rename(draft, copy);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another start was faster: its copy is as good as ours.
    if (!existsSync(copy)) throw error;
  }
  return copy;
}

/** Old files in temporary folders are removed one by one, so a copy may have lost some. */
function isComplete(packageFolder: string, copy: string): boolean {
  const native = join(packageFolder, "native");
  return readdirSync(native, { recursive: true, encoding: "utf8" }).every((path) =>
    lstatSync(join(copy, "native", path), { throwIfNoEntry: false }),
  );
}
