import { lstatSync } from "node:fs";
import { join } from "node:path";
import { mustRunAs, readPlain, runAs } from "./as-user.ts";
import type { DataFolder } from "./data-folder.ts";
import { processFacts } from "./process-facts.ts";

type Owner = { readonly pid: number; readonly started: string };

const tries_max = 5;

/** The file in a data folder that names the process holding it. */
export const ownerFile = "atlasqueue.owner";

/**
 * Claims a folder for this process with a file in it, and returns a function that gives it up. A claim whose process is
 * gone counts for nothing, even when its id was handed to another process meanwhile (in a container the same few ids
 * come back on every start). Throws when a living process holds it, even this one.
 *
 * @example
 * const release = claim({ dataDir: "/srv/queue/postgres", identity: undefined }, "the data in /srv/queue/postgres");
 * release();
 */
export function claim({ dataDir, identity }: DataFolder, what: string): () => void {
  const file = join(dataDir, ownerFile);
  const mine = JSON.stringify({
    pid: process.pid,
    started: processFacts(process.pid)?.started ?? "",
  });
  for (let tried = 0; tried < tries_max; tried++) {
    if (put(file, mine)) return () => release(file, mine);
    const found = readPlain(file);
    if (found === undefined) continue;
    refuseLiving(found, what);
    discard(file, found);
  }
  throw new Error(`${what} could not be claimed: ${file} keeps changing`);

  /** A link appears with its content or not at all, so no reader ever sees a half-written claim. */
  function put(to: string, content: string): boolean {
    const script = 'rm -f -- "$2" && set -C && cat > "$2" && { ln -- "$2" "$1"; made=$?; rm -f -- "$2"; exit $made; }';
    const { ok, said } = runAs(identity, script, [to, `${to}.${process.pid}`], content);
    if (ok || lstatSync(to, { throwIfNoEntry: false })) return ok;
    throw new Error(`${what} could not be claimed: ${said}`);
  }

  function release(from: string, content: string): void {
    if (readPlain(from) === content) mustRunAs(identity, 'rm -f -- "$1"', [from]);
  }

  /**
   * Two starters may find the same dead claim. The slower one would delete the faster one's fresh claim, so it moves
   * the file aside first and puts it back when it is not the one it judged.
   */
  function discard(stale: string, judged: string): void {
    const aside = `${stale}.stale.${process.pid}`;
    if (!runAs(identity, 'mv -f -- "$1" "$2"', [stale, aside]).ok) return;
    const script = readPlain(aside) === judged ? 'rm -f -- "$2"' : 'ln -- "$2" "$1"; rm -f -- "$2"';
    mustRunAs(identity, script, [stale, aside]);
  }
}

/** Throws when the claim with this content belongs to a living process. */
function refuseLiving(content: string, what: string): void {
  const owner = living(content);
  if (owner) throw new Error(`${what} is in use by process ${owner.pid}: stop that process, or choose another folder`);
}

function living(content: string): Owner | undefined {
  try {
    const owner = JSON.parse(content) as Owner;
    return processFacts(owner.pid)?.started === owner.started ? owner : undefined;
  } catch {
    return undefined;
  }
}
