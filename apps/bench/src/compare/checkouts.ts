import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Commit } from "./comparison.ts";
import type { Ending } from "./ending.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
/** This place is part of the seam: each commit has its variants here, or none that fit. */
const variants_folder = "apps/bench/src/variants";
const contract = `${variants_folder}/ours.ts`;
const git_seconds_max = 60;
const install_seconds_max = 600;
const run = promisify(execFile);

/** A checkout of a commit in a folder of its own, with what it depends on; `variants` is the URL of those it has. */
type Checkout = { commit: Commit; variants: string };
export type Checkouts = { a: Checkout; b: Checkout };

/** Something that whoever gave the command can mend: its message is enough. */
export class CompareError extends Error {
  override readonly name = "CompareError";
}

/**
 * What a name stands for here: a branch, a tag or the start of a commit's id. Throws a `CompareError` when there is no
 * such commit.
 *
 * @example
 * const { sha, subject } = await findCommit("main~3");
 */
export async function findCommit(name: string): Promise<Commit> {
  await git("rev-parse", "--git-dir").catch(() => {
    throw new CompareError(`commits can be measured only in a checkout of git, and ${root} is none`);
  });
  const sha = await git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`).catch(() => {
    throw new CompareError(`"${name}" is no commit of ${root}: give a branch, a tag or the id of a commit`);
  });
  return { name, sha, subject: await git("log", "-1", "--format=%s", sha) };
}

/**
 * Check two commits out in a temporary folder and install what they depend on. Only their variants are used: all else
 * is the bench of this checkout, so that both are measured alike. The ending removes all of it.
 *
 * @example
 * const { a, b } = await checkOut(await findCommit("main"), await findCommit("HEAD"), ending, console.error);
 */
export async function checkOut(a: Commit, b: Commit, ending: Ending, tell: (line: string) => void): Promise<Checkouts> {
  const made = [];
  for (const commit of [a, b]) {
    const place = await checkOutOne(commit, ending, tell);
    if (!existsSync(join(place, contract))) await giveFirstVariants(place, commit);
    made.push({ commit, variants: pathToFileURL(join(place, variants_folder, "index.ts")).href });
  }
  const [first, second] = made;
  if (!first || !second) throw new Error("two checkouts were to be made");
  return { a: first, b: second };
}

/**
 * Check a commit out in a temporary folder and install what it depends on. The ending removes it. Returns the folder.
 * Throws a `CompareError` when it can't be installed.
 *
 * @example
 * const place = await checkOutOne(await findCommit("HEAD"), ending, console.error);
 */
export async function checkOutOne(commit: Commit, ending: Ending, tell: (line: string) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "atlasqueue-checkout-"));
  const stop = new AbortController();
  ending.add(async () => {
    // An installation under way would go on filling the folder.
    stop.abort();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    await git("worktree", "prune");
  });
  const place = join(folder, "checkout");
  tell(`checking out ${commit.name} (${commit.sha.slice(0, 10)})`);
  await git("worktree", "add", "--detach", "--force", place, commit.sha);
  await install(place, commit, stop.signal);
  return place;
}

/**
 * A commit from before the seam gets the variants of the commit that drew it: they were written for the same names. Git
 * keeps them, so that this checkout has no copy of them to look after.
 */
async function giveFirstVariants(place: string, { name, sha }: Commit): Promise<void> {
  const added = await git("log", "--diff-filter=A", "--format=%H", "--", contract);
  const first = added.split("\n").at(-1);
  if (!first) throw new CompareError(`${name} has no ${contract}, and no commit of this branch has added it`);
  const is_older = await git("merge-base", "--is-ancestor", sha, first).then(
    () => true,
    () => false,
  );
  if (!is_older) throw new CompareError(`${name} has no ${contract}, and is not from before the commit that added it`);
  await git("-C", place, "checkout", first, "--", variants_folder);
}

async function install(place: string, commit: Commit, signal: AbortSignal): Promise<void> {
  const args = ["-y", "pnpm", "install", "--frozen-lockfile", "--prefer-offline"];
  const options = { cwd: place, timeout: install_seconds_max * 1_000, maxBuffer: 2 ** 26, signal };
  await run("npx", args, options).catch((error: { stdout?: string; stderr?: string; message: string }) => {
    const said = `${error.stdout ?? ""}${error.stderr ?? ""}`.trim().split("\n").slice(-5).join("\n");
    throw new CompareError(`the dependencies of ${commit.name} can't be installed: ${said || error.message}`);
  });
}

async function git(...args: string[]): Promise<string> {
  const { stdout } = await run("git", ["-C", root, ...args], { timeout: git_seconds_max * 1_000 });
  return stdout.trim();
}
