import { Option, type Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { exitCodes, orExit } from "../exit.ts";
import { outputOf } from "../output/output.ts";
import { jsonOption } from "../remote/options.ts";

export function defineDoctor(command: Command, env: Env): void {
  command
    .addOption(new Option("--rebuild-wakeups", "Refill Redis from PostgreSQL, with every ready job").default(false))
    .option("--cell <name>", "Only this cell of CELLS_FILE; by default all of them, one after another")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nIt checks DATABASE_URL and REDIS_URL, or the servers of a running `start`, with JOB_QUEUE_KEY and DLQ_KEY. Anything" +
        "\nthat looks wrong is checked again after 2 s. Exit code 1 if something is wrong.",
    )
    .action(({ rebuildWakeups, cell, json }) =>
      orExit(async () => {
        const [{ runDoctor }, { withStarted }] = await Promise.all([
          import("../doctor/doctor.ts"),
          import("../started.ts"),
        ]);
        const well = await runDoctor(withStarted(env), outputOf({ json }), { rebuild_wakeups: rebuildWakeups, cell });
        if (!well) process.exitCode = exitCodes.failed;
      }),
    );
}
