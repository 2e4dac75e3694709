import { styleText } from "node:util";
import { connectDatabase } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { rebuildWakeUps } from "@atlasqueue/core/internal/tools";
import type { CellConfig } from "@atlasqueue/program";
import { cellNamed, type Env } from "../config.ts";
import { Trouble } from "../exit.ts";
import { writeJson, type Output } from "../output/output.ts";
import { plain } from "../output/plain.ts";
import type { Check } from "./check.ts";
import { examine, openSignal } from "./examine.ts";
import { readServersConfig } from "./servers-config.ts";

/**
 * Examine the servers of each cell, or of the one named, one after the other, and report what was found. Resolves with
 * whether all is well. Throws `SettingError` for an unusable setting, `Trouble` when the wake-ups cannot be rebuilt.
 *
 * @example
 * const well = await runDoctor(process.env, outputOf({}), { rebuild_wakeups: false });
 */
export async function runDoctor(
  env: Env,
  output: Output,
  wish: { rebuild_wakeups: boolean; cell?: string | undefined },
): Promise<boolean> {
  const { cells } = readServersConfig(env);
  const wanted = wish.cell === undefined ? cells : [cellNamed(cells, wish.cell)];
  const all: (Found & { cell: string })[] = [];
  for (const cell of wanted) {
    const found = await examineCell(cell, wish.rebuild_wakeups);
    all.push({ cell: cell.name, ...found });
    if (output.json) continue;
    if (wanted.length > 1) output.write(`${all.length > 1 ? "\n" : ""}cell ${cell.name}\n`);
    tell(output, found);
  }
  const ok = all.every((one) => one.ok);
  if (output.json && wanted.length > 1) writeJson(output, { ok, cells: all });
  else if (output.json) for (const { cell: _, ...only } of all) writeJson(output, only);
  return ok;
}

type Found = { ok: boolean; checks: readonly Check[]; rebuilt?: { queues: number; jobs: number } };

async function examineCell(config: CellConfig, rebuilds: boolean): Promise<Found> {
  const database = connectDatabase({ ...config.database, applicationName: "atlasqueue-doctor" });
  const signal = openSignal(config.redis);
  const deps = { database, observe: () => {} };
  try {
    if (rebuilds && !signal) throw new Trouble("REDIS_URL is not set, so there are no wake-ups to rebuild");
    const rebuilt =
      rebuilds && signal
        ? await rebuildWakeUps({ ...deps, signal }).catch((error: unknown) => {
            throw error instanceof SignalUnavailableError ? new Trouble(`Redis: ${error.message}`) : error;
          })
        : undefined;
    const checks = await examine(deps, signal);
    return { ok: checks.every(({ state }) => state !== "wrong"), checks, ...(rebuilt && { rebuilt }) };
  } finally {
    await Promise.all([database.close(), signal?.close()]);
  }
}

const marks = { ok: styled("green", "✓"), wrong: styled("red", "✗"), skipped: "–" };
const name_width = 14;

function tell(output: Output, { checks, rebuilt }: Found): void {
  if (rebuilt) output.write(`Rebuilt the wake-ups of ${rebuilt.jobs} ready jobs in ${rebuilt.queues} queues\n`);
  for (const { name, state, detail } of checks)
    output.write(`${marks[state]} ${name.padEnd(name_width)}${plain(detail)}\n`);
}

function styled(color: "green" | "red", mark: string): string {
  return styleText(color, mark, { stream: process.stdout });
}
