import { spawnSync } from "node:child_process";
import { constants, openSync, closeSync, fstatSync, readSync } from "node:fs";
import type { Identity } from "./identity.ts";

const run_ms_max = 30_000;
const read_bytes_max = 64 * 1_024;

// Ours is not passed on: what the person's own shell sets must not change what these few lines do.
const env = { LC_ALL: "C", PATH: "/usr/local/bin:/usr/bin:/bin" };

export type Ran = { readonly ok: boolean; readonly stdout: string; readonly said: string };

/**
 * Runs a few lines of sh as that user. Everything that changes in a data folder is changed this way: as root we would
 * follow a link that the folder's owner planted there, and write wherever it leads.
 *
 * @example
 * runAs(identity, 'rm -f -- "$1"', [file]);
 */
export function runAs(identity: Identity | undefined, script: string, args: readonly string[], input = ""): Ran {
  const options = { ...identity, cwd: "/", env, input, encoding: "utf8", timeout: run_ms_max } as const;
  const { status, stdout, stderr, error } = spawnSync("sh", ["-c", `umask 077\n${script}`, "sh", ...args], options);
  return { ok: status === 0, stdout: stdout ?? "", said: error?.message ?? stderr?.trim() ?? "" };
}

/** Like `runAs`, for what must succeed: throws with the command's output. */
export function mustRunAs(identity: Identity | undefined, script: string, args: readonly string[], input = ""): string {
  const { ok, stdout, said } = runAs(identity, script, args, input);
  if (!ok) throw new Error(`could not change ${args[0]} as the user with id ${uidOf(identity)}: ${said}`);
  return stdout;
}

/** Replaces a file as that user, whole or not at all; only that user may read it. */
export function writeAs(identity: Identity | undefined, file: string, content: string): void {
  const script = 'rm -f -- "$1.new" && set -C && cat > "$1.new" && mv -f -- "$1.new" "$1"';
  mustRunAs(identity, script, [file], content);
}

/**
 * The text of a file in another user's folder, at most 64 KiB: undefined when there is none, empty when it is not a
 * regular file. Does not follow links or wait for FIFOs.
 */
export function readPlain(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP" || code === "EMLINK" || code === "ENXIO" || code === "EISDIR") return "";
    throw error;
  }
  try {
    if (!fstatSync(descriptor).isFile()) return "";
    const bytes = Buffer.alloc(read_bytes_max);
    return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, read_bytes_max, 0));
  } finally {
    closeSync(descriptor);
  }
}

export function uidOf(identity: Identity | undefined): number | undefined {
  return identity?.uid ?? process.getuid?.();
}
