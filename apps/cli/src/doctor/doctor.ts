import { styleText } from "node:util";
import { connectDatabase } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { rebuildWakeUps } from "@atlasqueue/core/internal/tools";
import { cellNamed, type Env } from "../config.ts";
import { Trouble } from "../exit.ts";
import { writeJson, type Output } from "../output/output.ts";
import { plain } from "../output/plain.ts";
import type { Check } from "./check.ts";
import { examine, openSignal } from "./examine.ts";
import { readServersConfig } from "./servers-config.ts";

/**
 * Examine the servers and report what was found. Resolves with whether all is well. Throws `SettingError` for an
 * unusable setting, `Trouble` when the wake-ups cannot be rebuilt.
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
  const config = wish.cell === undefined ? cells[0] : cellNamed(cells, wish.cell);
  const database = connectDatabase({ ...config.database, applicationName: "atlasqueue-doctor" });
  const signal = openSignal(config.redis);
  const deps = { database, observe: () => {} };
  try {
    let rebuilt: Rebuilt;
    if (wish.rebuild_wakeups) {
      if (!signal) throw new Trouble("REDIS_URL is not set, so there are no wake-ups to rebuild");
      rebuilt = await rebuildWakeUps({ ...deps, signal }).catch((error: unknown) => {
        throw error instanceof SignalUnavailableError ? new Trouble(`Redis: ${error.message}`) : error;
      });
    }
    const checks = await examine(deps, signal);
    return tell(output, checks, rebuilt);
  } finally {
    await Promise.all([database.close(), signal?.close()]);
  }
}

type Rebuilt = { queues: number; jobs: number } | undefined;

const marks = { ok: styled("green", "✓"), wrong: styled("red", "✗"), skipped: "–" };
const name_width = 14;

function tell(output: Output, checks: readonly Check[], rebuilt: Rebuilt): boolean {
  const well = checks.every(({ state }) => state !== "wrong");
  if (output.json) {
    writeJson(output, { ok: well, checks, ...(rebuilt ? { rebuilt } : {}) });
    return well;
  }
  if (rebuilt) output.write(`Rebuilt the wake-ups of ${rebuilt.jobs} ready jobs in ${rebuilt.queues} queues\n`);
  for (const { name, state, detail } of checks)
    output.write(`${marks[state]} ${name.padEnd(name_width)}${plain(detail)}\n`);
  return well;
}

function styled(color: "green" | "red", mark: string): string {
  return styleText(color, mark, { stream: process.stdout });
}
