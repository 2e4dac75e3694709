import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { findProgram, type ProgramName } from "@atlasqueue/harness/programs";

/** The path of a program that the topology needs. */
export function installed(name: ProgramName): string {
  const program = findProgram(name);
  if (program === undefined) throw new Error(`there is no ${name} here; \`pnpm topology\` installs it`);
  return program;
}

export const isGone = (child: ChildProcess | undefined) =>
  child === undefined || child.exitCode !== null || child.signalCode !== null;

export async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || isGone(child)) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** Who a server runs as that refuses to run as root. */
export function nobodyIfRoot(): { uid: number; gid: number } | undefined {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+)/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  return process.getuid?.() === 0 ? { uid: Number(uid), gid: Number(gid) } : undefined;
}
