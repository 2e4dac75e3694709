import { readFile } from "node:fs/promises";

/** Clock ticks of /proc; the same on every Linux that Node runs on. */
const ticks_per_second = 100;

/** The processor time used by all threads of a process, in seconds. Linux only. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // The second field, the name, may hold anything: the others are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticks_per_second;
}

/** A process's memory in RAM, in MB. Linux only. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
}
