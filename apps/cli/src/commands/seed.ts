import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { sure } from "../output/confirm.ts";
import { outputOf } from "../output/output.ts";
import { yesOption } from "../remote/options.ts";
import { withStarted } from "../started.ts";
import { hasJobs, seedDay } from "../seed/seed.ts";
import { number } from "../submit/job-fields.ts";
import { withDatabase } from "../tokens/with-database.ts";

const count = (text: string) => Math.round(number(text, 1, 50_000_000));

export function defineSeed(command: Command, env: Env): void {
  command
    .option("--jobs <n>", "How many jobs, about", count, 20_000)
    .option("--dead <n>", "How many of them are dead letters (default: one in 40)", count)
    .option("--queues <n>", "How many queues; those beyond the named ones are numbered", count, 8)
    .option("--data <folder>", "Data folder of the running system (default: DATA_DIR, or .atlasqueue)")
    .addOption(yesOption())
    .addHelpText(
      "after",
      "\nFor trying things out: it fills the tenant `default` with made-up jobs, dead letters, schedules, limits and a month" +
        "\nof figures, in DATABASE_URL or in the PostgreSQL of a running `start`. Millions of jobs take a few minutes.",
    )
    .action(({ jobs, dead = Math.ceil(jobs / 40), queues, data, yes }) =>
      orExit(async () => {
        const where = data === undefined ? env : { ...env, DATA_DIR: data };
        await withDatabase(withStarted(where), async (deps) => {
          if (await hasJobs(deps)) await sure("There are jobs already. Mix made-up ones with them?", yes);
          const output = outputOf();
          await seedDay(deps, { jobs, dead, queues }, (line) => output.tell(`${line}\n`));
          output.tell("done\n");
        });
      }),
    );
}
