import { readFileSync, readlinkSync } from "node:fs";
import { z } from "zod";

/**
 * Which process a worker is, so that another one on its machine can check whether it is gone. `machine` is one boot of
 * one kernel and one PID namespace: no one else can say anything about the id.
 */
export const processMark = z.object({ machine: z.string(), pid: z.int(), started: z.string() });
export type ProcessMark = z.infer<typeof processMark>;

/** This process; null where the system does not say enough (anything but Linux). */
export function ownMark(): ProcessMark | null {
  const started = statOf(process.pid)?.started;
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const machine = `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
    return started === undefined ? null : { machine, pid: process.pid, started };
  } catch {
    return null;
  }
}

/** True when it certainly is: the process was on our machine, and its id is unused or reused by now. */
export function isGone(mark: ProcessMark, own: ProcessMark | null): boolean {
  if (own?.machine !== mark.machine || mark.pid <= 0) return false;
  try {
    process.kill(mark.pid, 0);
  } catch (error) {
    // EPERM: it is there, but another user's.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return true;
  }
  const stat = statOf(mark.pid);
  return stat !== undefined && (stat.ended || stat.started !== mark.started);
}

/** What /proc says about a process; nothing when it may not be read. */
function statOf(pid: number): { ended: boolean; started: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it is in parentheses and may contain anything. Zombies have ended.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, started] = [fields[0] ?? "", fields[19]];
    return started === undefined ? undefined : { ended: state === "Z" || state === "X", started };
  } catch {
    return undefined;
  }
}
