import { setTimeout as delay } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { readPostmasterFile } from "../process/orphan.ts";
import { spawnServer, stopServer, type ServerProcess, type StopStep } from "../process/server-process.ts";

/** How an attempt to start ended. */
export type Launch =
  | { readonly kind: "ready"; readonly server: ServerProcess }
  | { readonly kind: "port_in_use" }
  | { readonly kind: "still_stopping"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT the immediate one (it recovers on the next start). */
export const stopSteps: readonly StopStep[] = [
  { signal: "SIGINT", wait_ms: 10_000 },
  { signal: "SIGQUIT", wait_ms: 6_000 },
  { signal: "SIGKILL", wait_ms: 1_000 },
];

const ready_ms_max = 60_000;
const look_ms = 20;

/** Starts PostgreSQL on a port and waits until it takes connections, at most 60 s (recovery after a crash counts). */
export async function launch(
  { dataDir, identity, binaries, settings }: Cluster,
  port: number,
  log: ((line: string) => void) | undefined,
): Promise<Launch> {
  const set = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const args = ["-D", dataDir, "-p", String(port), ...set];
  const server = await spawnServer(binaries.postgres, args, {
    identity,
    log,
    signalOnExit: "SIGINT",
  });
  const deadline = performance.now() + ready_ms_max;
  while (!server.hasExited()) {
    if (isReady(dataDir, server.pid)) return { kind: "ready", server };
    if (performance.now() > deadline) {
      await stopServer(server, stopSteps);
      return {
        kind: "failed",
        reason: `not ready after ${ready_ms_max} ms\n${await server.lastWords()}`,
      };
    }
    await Promise.race([server.exited, delay(look_ms)]);
  }
  return explain(await server.lastWords());
}

/**
 * The file speaks for this very process. A connection would also succeed to another program that took the port first,
 * and the log line depends on the settings.
 */
function isReady(dataDir: string, pid: number): boolean {
  const lines = readPostmasterFile(dataDir);
  return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
}

function explain(reason: string): Launch {
  if (reason.includes("Address already in use")) return { kind: "port_in_use" };
  // The postmaster was killed and its last backends have not noticed yet.
  if (reason.includes("pre-existing shared memory block")) return { kind: "still_stopping", reason };
  return { kind: "failed", reason };
}
