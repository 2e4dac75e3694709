import {
  cellNamed,
  emptiest,
  listPlaces,
  moveTenant,
  placeTenant,
  readPlace,
  type Cell,
  type Cells,
  type MoveStep,
} from "@atlasqueue/core/internal/tools";
import { Option, type Command } from "@commander-js/extra-typings";
import { changeCells, look, lookAtCells } from "./open-cells.ts";
import type { Env } from "../config.ts";
import { orExit, Trouble } from "../exit.ts";
import { note } from "../output/note.ts";
import { outputOf, writeJson } from "../output/output.ts";
import { showTable, type Columns } from "../output/table.ts";
import { jsonOption } from "../remote/options.ts";
import { integer } from "../submit/job-fields.ts";

type Shown = { name: string; tenants: number; moving: number; jobs: number; state: string };

const cellColumns: Columns<Shown> = {
  cell: ({ name }) => name,
  tenants: ({ tenants }) => String(tenants),
  moving: ({ moving }) => String(moving),
  jobs: ({ jobs }) => String(jobs),
  state: ({ state }) => state,
};

const steps: Record<MoveStep, string> = {
  idle: "No job of it runs",
  refused: "APIs refuse it; waiting for requests under way",
  still: "Copying",
  copied: "Copied and checked",
  switched: "The tenant's jobs are in the new cell; clearing the old cell",
  cleared: "The old cell is clear",
  released: "Its queues go on",
  done: "Done",
};
const runningOption = () =>
  new Option("--running-seconds <n>", "How long running jobs may take to end")
    .argParser((text) => integer(text, 0, 86_400))
    .default(120);

export function defineCells(cells: Command, env: Env): void {
  const output = outputOf();
  cells
    .command("list")
    .description("List the cells of CELLS_FILE with their tenants and jobs.")
    .addOption(jsonOption())
    .action(({ json }) =>
      orExit(() =>
        lookAtCells(env, async (all) => {
          const places = await listPlaces(all);
          const show = async (cell: Cell): Promise<Shown> => {
            const { jobs, trouble } = await look(cell);
            const here = places.filter((one) => one.cell === cell.name);
            const moving = here.filter(({ moving_to }) => moving_to !== null).length;
            return { name: cell.name, tenants: here.length, moving, jobs, state: trouble ?? "up" };
          };
          const items = await Promise.all(all.map(show));
          if (json) writeJson(output, { items });
          else showTable(output, cellColumns, items);
        }),
      ),
    );

  cells
    .command("add")
    .description("Check that a new cell of CELLS_FILE is reachable, migrated and empty.")
    .argument("<cell>", "Name of the cell")
    .action((name) =>
      orExit(() =>
        lookAtCells(env, async (all) => {
          const { jobs, trouble } = await look(cellNamed(all, name));
          if (trouble !== undefined) throw new Trouble(`cell ${name}: ${trouble}`);
          if (jobs > 0) throw new Trouble(`cell ${name}: its schema has ${jobs} jobs; a new cell must be empty`);
          output.write(`${name} is ready: start the APIs and workers anew with this CELLS_FILE, then move tenants\n`);
        }),
      ),
    );

  cells
    .command("place")
    .description("Put a new tenant into a cell; without a cell, into the one with the fewest tenants.")
    .argument("<tenant>", "Tenant without jobs")
    .argument("[cell]", "Name of the cell")
    .action((tenant, name) =>
      orExit(() =>
        changeCells(env, [name], async (all) => {
          const cell = await placeTenant(all, tenant, name);
          output.write(`${tenant} is in ${cell.name}\n`);
          await note(cell, output, { tenant, action: "tenant.place", target: cell.name, detail: null });
        }),
      ),
    );

  cells
    .command("move")
    .description("Move a tenant with its jobs. After an interruption: the same again, or back to its old cell.")
    .argument("<tenant>", "Tenant")
    .argument("<cell>", "Name of the cell to move to")
    .addOption(runningOption())
    .action((tenant, name, { runningSeconds }) =>
      orExit(() => changeCells(env, [name], (all) => move(all, tenant, name, runningSeconds))),
    );

  cells
    .command("drain")
    .description("Move all tenants of a cell, each to the cell with the fewest tenants.")
    .argument("<cell>", "Name of the cell to empty")
    .addOption(runningOption())
    .action((name, { runningSeconds }) =>
      orExit(() =>
        changeCells(env, [name], async (all) => {
          const others = all.filter((cell) => cell !== cellNamed(all, name));
          for (const { tenant, cell } of await listPlaces(all))
            if (cell === name) await move(all, tenant, (await emptiest(all, others)).name, runningSeconds);
        }),
      ),
    );

  async function move(all: Cells, tenant: string, name: string, seconds: number): Promise<void> {
    const onStep = (step: MoveStep) => output.tell(`${tenant}: ${steps[step]}\n`);
    const { cell: from, moving_to } = await readPlace(all, tenant);
    const { collected, left } = await moveTenant(all, tenant, name, { running_ms_max: seconds * 1_000, onStep });
    output.write(`${tenant} is in ${name}\n`);
    if (collected > 0) output.tell(`${collected} jobs were submitted in another cell meanwhile, and moved too\n`);
    if (left > 0) output.tell(`${left} jobs in another cell run or wait in a group there: run this again later\n`);
    if (from !== name || moving_to !== null || collected > 0)
      await note(cellNamed(all, name), output, {
        tenant,
        action: "tenant.move",
        target: name,
        detail: { from, collected },
      });
  }
}
