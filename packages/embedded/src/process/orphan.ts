import { join } from "node:path";
import { readPlain, writeAs } from "./as-user.ts";
import type { Cluster } from "../postgres/cluster.ts";
import { processFacts } from "./process-facts.ts";
import { runTool } from "./server-process.ts";

const stop_s_max = 10;

/**
 * Stops the PostgreSQL that a parent killed with SIGKILL left running on our data. Call it only while holding the
 * data's owner file: then nothing running there has a living owner.
 */
export async function stopOrphan({ dataDir, binaries, identity }: Cluster): Promise<void> {
  const pid = postmasterPid(dataDir);
  // PostgreSQL itself judges a dead process: it also looks for backends that outlived their postmaster.
  if (pid === undefined || !exists(pid)) return;
  switch (whoIs(pid, dataDir)) {
    case "our_postgres":
      return stop();
    case "stranger":
      return disown();
    case "unknown":
      return;
  }

  async function stop(): Promise<void> {
    const args = (mode: string) => ["stop", "-D", dataDir, "-m", mode, "-w", "-t", String(stop_s_max)];
    try {
      await runTool(binaries.pg_ctl, args("fast"), identity);
    } catch {
      await runTool(binaries.pg_ctl, args("immediate"), identity);
    }
  }

  /**
   * PostgreSQL refuses to start while the process id in postmaster.pid is alive, whatever it is, unless it is its own
   * parent's. Putting ours there gets past that and keeps the file's other lines, which let it notice old backends
   * still attached; deleting the file would lose that check.
   */
  function disown(): void {
    const lines = [String(process.pid), ...readPostmasterFile(dataDir).slice(1)];
    writeAs(identity, join(dataDir, "postmaster.pid"), lines.join("\n"));
  }
}

/** The id in postmaster.pid, or undefined when there is none. */
function postmasterPid(dataDir: string): number | undefined {
  const pid = Number(readPostmasterFile(dataDir)[0]);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

/** The lines of postmaster.pid: 1 the process id, 4 the port, 8 the status ("starting", "ready", "stopping"). */
export function readPostmasterFile(dataDir: string): string[] {
  try {
    return readPlain(join(dataDir, "postmaster.pid"))?.split("\n") ?? [];
  } catch {
    return [];
  }
}

/** Checked before any signal is sent: after a reboot the id may belong to any process. */
function whoIs(pid: number, dataDir: string): "our_postgres" | "stranger" | "unknown" {
  const facts = processFacts(pid);
  if (!facts || !facts.command.includes("postgres")) return "stranger";
  // A postmaster's working directory is its data directory.
  if (facts.folder !== undefined) return facts.folder === dataDir ? "our_postgres" : "stranger";
  return facts.command.includes(dataDir) ? "our_postgres" : "unknown";
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
