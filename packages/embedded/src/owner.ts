import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { processFacts } from "./process-facts.ts";

type Owner = { readonly pid: number; readonly started: string };

const tries_max = 5;

/**
 * Claims a folder for this process by an owner file beside it, and returns the function that gives it up. A claim
 * whose process is gone counts for nothing, even when its id was handed to another process meanwhile (in a container
 * the same few ids come back on every start). Throws when a living process holds it, this one included.
 *
 * @example
 * const release = claim("/srv/queue/postgres.owner", "the data in /srv/queue/postgres");
 * release();
 */
export function claim(file: string, what: string): () => void {
  const mine = JSON.stringify({
    pid: process.pid,
    started: processFacts(process.pid)?.started ?? "",
  });
  for (let tried = 0; tried < tries_max; tried++) {
    if (put(file, mine)) return () => release(file, mine);
    const found = read(file);
    if (found === undefined) continue;
    const owner = living(found);
    if (owner) {
      throw new Error(`${what} is in use by process ${owner.pid}: stop that process, or choose another folder`);
    }
    discard(file, found);
  }
  throw new Error(`${what} could not be claimed: ${file} keeps changing`);
}

/** A link appears with its content or not at all, so no reader ever meets a half-written claim. */
function put(file: string, content: string): boolean {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function release(file: string, mine: string): void {
  if (read(file) === mine) rmSync(file, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function living(content: string): Owner | undefined {
  try {
    const owner = JSON.parse(content) as Owner;
    return processFacts(owner.pid)?.started === owner.started ? owner : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Two starters may find the same dead claim. The slower one would delete the faster one's fresh claim, so it moves
 * the file aside first and puts it back when it is not the one it judged.
 */
function discard(file: string, judged: string): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    if (readFileSync(aside, "utf8") !== judged) linkSync(aside, file);
  } catch (error) {
    if (!isCode(error, "ENOENT") && !isCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
