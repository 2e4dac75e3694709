import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Commit } from "./comparison.ts";
import type { Ending } from "./ending.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const bench_source = fileURLToPath(new URL("..", import.meta.url));
const git_seconds_max = 60;
const install_seconds_max = 600;
const run = promisify(execFile);

/** A checkout of a commit in a folder of its own, with what it depends on; `measure` is its file that measures. */
type Checkout = { commit: Commit; measure: string };
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
    throw new CompareError(`--compare needs git, and ${root} to be a checkout of it`);
  });
  const sha = await git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`).catch(() => {
    throw new CompareError(`--compare: "${name}" is no commit of ${root}; it takes branches, tags and ids of commits`);
  });
  return { name, sha, subject: await git("log", "-1", "--format=%s", sha) };
}

/**
 * Check two commits out in a temporary folder and install what they depend on. Both get the bench of this checkout, so
 * that they are measured alike. The ending removes all of it.
 *
 * @example
 * const { a, b } = await checkOut(await findCommit("main"), await findCommit("HEAD"), ending, console.error);
 */
export async function checkOut(a: Commit, b: Commit, ending: Ending, tell: (line: string) => void): Promise<Checkouts> {
  const folder = await mkdtemp(join(tmpdir(), "atlasqueue-compare-"));
  const stop = new AbortController();
  ending.add(async () => {
    // An installation under way would go on filling the folder.
    stop.abort();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    await git("worktree", "prune");
  });
  const made = [];
  for (const [side, commit] of [
    ["a", a],
    ["b", b],
  ] as const) {
    const place = join(folder, side);
    tell(`checking out ${commit.name} (${commit.sha.slice(0, 10)})`);
    await git("worktree", "add", "--detach", "--force", place, commit.sha);
    await install(place, commit, stop.signal);
    await rm(join(place, "apps/bench/src"), { recursive: true, force: true });
    await cp(bench_source, join(place, "apps/bench/src"), { recursive: true });
    made.push({ commit, measure: join(place, "apps/bench/src/run/measure.ts") });
  }
  const [first, second] = made;
  if (!first || !second) throw new Error("two checkouts were to be made");
  return { a: first, b: second };
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
