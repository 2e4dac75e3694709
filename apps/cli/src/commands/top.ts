import { Option, type Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { outputOf } from "../output/output.ts";
import { urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";
import { number } from "../submit/job-fields.ts";

export function defineTop(command: Command, env: Env): void {
  command
    .addOption(
      new Option("--every <seconds>", "Time between two refreshes")
        .argParser((text) => number(text, 0.2, 3_600))
        .default(1),
    )
    .addOption(urlOption())
    .addHelpText("after", "\nWithout a terminal it prints the queues once.")
    .action(({ every, url }) =>
      orExit(async () => {
        const { watch } = await import("../top/watch.ts");
        await withClient(env, { url }, (client) => watch(client, outputOf(), every * 1_000));
      }),
    );
}
