import { readFile } from "node:fs/promises";

/** Of /proc; the same on every Linux that Node runs on. */
const ticks_per_second = 100;

/** The processor time that all threads of a process have used, in seconds. Linux only. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The second field, the name, may hold anything: the others are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticks_per_second;
}

/** The memory that a process has in RAM, in MB. Linux only. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
}
