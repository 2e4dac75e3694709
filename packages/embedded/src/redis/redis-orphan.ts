import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readPlain } from "../process/as-user.ts";
import { processFacts, type ProcessFacts } from "../process/process-facts.ts";

const stop_ms_max = 5_000;

/** Where the server in a folder writes its process id. */
export function pidFile(folder: string): string {
  return join(folder, "redis.pid");
}

/**
 * Stops the server that a parent killed with SIGKILL left running in this folder. Call it only while holding the
 * folder's owner file. It looks before it signals: the id may belong to any process by now.
 */
export async function stopRedisOrphan(folder: string, factsOf = processFacts): Promise<void> {
  const pid = readPid(folder);
  const isOurs = () => pid !== undefined && runsIn(folder, pid, factsOf(pid));
  if (pid === undefined || !isOurs()) return;
  process.kill(pid, "SIGTERM");
  process.kill(pid, "SIGCONT");
  const deadline = performance.now() + stop_ms_max;
  while (isOurs()) {
    if (performance.now() > deadline) process.kill(pid, "SIGKILL");
    await delay(20);
  }
}

function runsIn(folder: string, pid: number, facts: ProcessFacts | undefined): boolean {
  if (!facts || !/(redis|valkey)-server/.test(facts.command)) return false;
  // Where another user's process runs can't be read. A process that we may not signal is not ours.
  return facts.folder === undefined ? maySignal(pid) : facts.folder === folder;
}

function maySignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function readPid(folder: string): number | undefined {
  try {
    const pid = Number(readPlain(pidFile(folder)));
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
