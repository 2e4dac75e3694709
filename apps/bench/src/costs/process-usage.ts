import { readdir, readFile } from "node:fs/promises";

/** Clock ticks of /proc; the same on every Linux that Node runs on. */
const ticks_per_second = 100;

/** Of one process; Linux only, as all in this file. */
type Stat = { parent: number; seconds: number; ended_children_seconds: number };

/** Undefined when the process is gone. */
async function readStat(pid: number): Promise<Stat | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The second field, the name, may hold anything: the others are counted from its end.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (!fields) return undefined;
  const seconds = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) / ticks_per_second;
  return { parent: Number(fields[1]), seconds: seconds(11), ended_children_seconds: seconds(13) };
}

/** The processor time used by all threads of a process, in seconds. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readStat(pid);
  if (!stat) throw new Error(`no process has the id ${pid}`);
  return stat.seconds;
}

/** The process that started this one. Undefined when this one is gone. */
export async function parentOf(pid: number): Promise<number | undefined> {
  return (await readStat(pid))?.parent;
}

/** These processes, and all that they have started and that still run. */
async function treeOf(roots: readonly number[]): Promise<[number, Stat][]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = new Map<number, Stat>();
  const note = async (pid: number) => {
    const stat = await readStat(pid);
    if (stat) stats.set(pid, stat);
  };
  await Promise.all(pids.map(note));
  const isIn = (pid: number): boolean => roots.includes(pid) || (pid > 1 && isIn(stats.get(pid)?.parent ?? 0));
  return [...stats].filter(([pid]) => isIn(pid));
}

/**
 * The processor time of some processes and of all they have started, in seconds, those that have ended included: their
 * parents count them, so that nothing is lost between two looks.
 *
 * @example
 * const before = await treeCpuSeconds([postmaster]);
 */
export async function treeCpuSeconds(roots: readonly number[]): Promise<number> {
  const times = (await treeOf(roots)).map(
    async ([pid, stat]) => ((await scheduled(pid))?.ran_seconds ?? stat.seconds) + stat.ended_children_seconds,
  );
  return (await Promise.all(times)).reduce((sum, seconds) => sum + seconds, 0);
}

/** How long the threads of some processes, and of all they have started and that still run, could run and had no core, in seconds. */
export async function treeWaitSeconds(roots: readonly number[]): Promise<number> {
  const times = (await treeOf(roots)).map(async ([pid]) => (await scheduled(pid))?.waited_seconds ?? 0);
  return (await Promise.all(times)).reduce((sum, seconds) => sum + seconds, 0);
}

/** To the nanosecond, where the kernel counts so: sums over the threads, which here live as long as their process. */
async function scheduled(pid: number): Promise<{ ran_seconds: number; waited_seconds: number } | undefined> {
  try {
    const threads = await readdir(`/proc/${pid}/task`);
    const texts = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8"));
    const fields = (await Promise.all(texts)).map((text) => text.split(" ").map(Number));
    const total = (at: number) => fields.reduce((sum, field) => sum + (field[at] ?? 0), 0) / 1e9;
    return { ran_seconds: total(0), waited_seconds: total(1) };
  } catch {
    return undefined;
  }
}

/** A process's memory in RAM, in MB. */
export async function residentMb(pid: number): Promise<number> {
  return memoryMb(pid, "VmRSS");
}

/** What a process and all it has started hold in RAM for themselves, in MB: neither files nor shared memory. */
export async function treePrivateMb(root: number): Promise<number> {
  const tree = await treeOf([root]);
  // One that has ended meanwhile holds nothing.
  const sizes = await Promise.all(tree.map(([pid]) => memoryMb(pid, "RssAnon").catch(() => 0)));
  return sizes.reduce((sum, mb) => sum + mb, 0);
}

async function memoryMb(pid: number, field: "VmRSS" | "RssAnon"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1_024;
}
