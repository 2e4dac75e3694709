import { setTimeout as sleep } from "node:timers/promises";
import { AtlasQueueError, AuthError, type Client } from "@atlasqueue/client";
import { createLogUpdate } from "log-update";
import type { Output } from "../output/output.ts";
import { plain } from "../output/plain.ts";
import { frame } from "./frame.ts";
import { ratesBetween, type Look } from "./rates.ts";

/**
 * Show the queues, again and again until Ctrl-C; once where there is no terminal. If the API goes away it keeps the
 * last picture and waits; a refused token ends it.
 */
export async function watch(client: Client, output: Output, every_ms: number): Promise<void> {
  let before = await look(client);
  const size = () => ({ width: process.stdout.columns ?? 80, lines: output.terminal ? process.stdout.rows : Infinity });
  if (!output.terminal) return output.write(`${frame(before, new Map(), size())}\n`);
  const update = createLogUpdate(process.stdout);
  const stop = new AbortController();
  // Not `once`: the code that restores the cursor ends the process when no other listener is left.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stop.abort());
  update(frame(before, new Map(), size()));
  while (await rested(every_ms, stop.signal)) {
    try {
      const now = await look(client);
      update(frame(now, ratesBetween(before, now), size()));
      before = now;
    } catch (error) {
      if (!(error instanceof AtlasQueueError) || error instanceof AuthError) throw error;
      update(`${frame(before, new Map(), size())}\n\n${plain(error.message)}`);
    }
  }
  // Leaves the last picture, and restores the cursor.
  update.done();
}

async function look(client: Client): Promise<Look> {
  const queues = await client.queues();
  return { at_ms: Date.now(), queues };
}

/** False when it was stopped. */
async function rested(ms: number, signal: AbortSignal): Promise<boolean> {
  return sleep(ms, true, { signal }).catch(() => false);
}
