import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync } from "node:fs";

/** What distinguishes a process from a later one with the same id. */
export type ProcessFacts = {
  /** When it started, in whatever form this system gives; only good for comparing. */
  readonly started: string;
  readonly command: string;
  /** Its working directory, where the system says (Linux, for our own processes or as root). */
  readonly folder: string | undefined;
};

/**
 * The facts about a living process; undefined when there is none or it is a zombie. A zombie still answers
 * `kill(pid, 0)`, and in a container whose first process reaps nothing it does so forever.
 */
export function processFacts(pid: number): ProcessFacts | undefined {
  return existsSync("/proc/self/stat") ? factsFromProc(pid) : factsFromPs(pid);
}

function factsFromProc(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command's name is in parentheses and may hold anything, parentheses and spaces included.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { started: `${boot}:${fields[19]}`, command, folder: folderOf(pid) };
  } catch {
    return undefined;
  }
}

function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

function factsFromPs(pid: number): ProcessFacts | undefined {
  const { stdout } = spawnSync("ps", ["-o", "state=,lstart=,command=", "-p", String(pid)], {
    encoding: "utf8",
  });
  const [state, ...rest] = (stdout ?? "").trim().split(/\s+/);
  if (!state || state.startsWith("Z")) return undefined;
  // lstart is five words: Thu Nov 20 16:11:00 2025
  return {
    started: rest.slice(0, 5).join(" "),
    command: rest.slice(5).join(" "),
    folder: undefined,
  };
}
