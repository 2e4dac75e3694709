import { connectDatabase, noSignal, redisSignal } from "@atlasqueue/core";
import { countJobs, schemaState, CellError, type Cell, type Cells } from "@atlasqueue/core/internal/tools";
import { readCells, troubleLine } from "@atlasqueue/program";
import type { Env } from "../config.ts";
import { Trouble } from "../exit.ts";

/** A cell that is down is noticed by then. */
const look_ms = 5_000;
/** Of a statement of a move: one may copy a table. */
const move_ms = 600_000;

type Opened = { cells: Cells; close(): Promise<void> };

function openCells(env: Env, timeoutMs: number): Opened {
  const open = ({ name, database: { url, schema }, redis }: ReturnType<typeof readCells>[number]): Cell => ({
    name,
    database: connectDatabase({ url, schema, connectionsMax: 4, timeoutMs, applicationName: "atlasqueue-cells" }),
    signal: redis ? redisSignal({ ...redis, timeoutMs: 2_000 }) : noSignal(),
  });
  const [home, ...others] = readCells(env);
  const cells: Cells = [open(home), ...others.map(open)];
  return {
    cells,
    close: async () => void (await Promise.all(cells.flatMap((cell) => [cell.database.close(), cell.signal.close()]))),
  };
}

async function within<T>({ cells, close }: Opened, act: (cells: Cells) => Promise<T>): Promise<T> {
  try {
    return await act(cells);
  } catch (error) {
    throw error instanceof CellError ? new Trouble(error.message) : error;
  } finally {
    await close();
  }
}

/** Run something that only looks, on the cells of CELLS_FILE, and disconnect. */
export const lookAtCells = <T>(env: Env, act: (cells: Cells) => Promise<T>): Promise<T> =>
  within(openCells(env, look_ms), act);

/** Run something that moves rows. Throws `Trouble` if home or a cell that `names` has is not ready for it. */
export async function changeCells<T>(
  env: Env,
  names: readonly (string | undefined)[],
  act: (cells: Cells) => Promise<T>,
): Promise<T> {
  await lookAtCells(env, async (cells) => {
    for (const cell of cells.filter((one, at) => at === 0 || names.includes(one.name))) {
      const { trouble } = await look(cell);
      if (trouble !== undefined) throw new Trouble(`cell ${cell.name}: ${trouble}`);
    }
  });
  return within(openCells(env, move_ms), act);
}

/** Whether a cell can take tenants, and how many jobs it has. */
export async function look(cell: Cell): Promise<{ jobs: number; trouble?: string }> {
  try {
    const { kind, at, needs } = await schemaState(cell.database);
    const { name } = cell.database.schema;
    if (kind === "missing" || kind === "behind")
      return {
        jobs: 0,
        trouble: `its schema ${name} is at migration ${at ?? "none"} and needs ${needs}: run \`atlasqueue migrate\` on it`,
      };
    await cell.signal.check();
    const counts = await countJobs({ database: cell.database }, undefined);
    return { jobs: Object.values(counts).reduce((sum, count) => sum + count, 0) };
  } catch (error) {
    const line = troubleLine(error);
    if (line === undefined) throw error;
    return { jobs: 0, trouble: line };
  }
}
