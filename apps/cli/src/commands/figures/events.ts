import type { LiveEvent } from "@atlasqueue/contract";
import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../../config.ts";
import { orExit } from "../../exit.ts";
import { outputOf, writeJson, type Output } from "../../output/output.ts";
import { plain } from "../../output/plain.ts";
import { jsonOption, parseQueues, urlOption } from "../../remote/options.ts";
import { withClient } from "../../remote/with-client.ts";

export function defineEvents(command: Command, env: Env): void {
  command
    .option("--queue <name...>", "Queues to follow (default: the first 100 by name)", parseQueues)
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nIt ends with the connection: when the API stops, or the token does. With --json, a line per event.",
    )
    .action(({ queue, url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const stop = new AbortController();
          for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
          const choice = queue === undefined ? {} : { queues: queue };
          for await (const event of client.stats.events(choice, { signal: stop.signal }))
            if (json) writeJson(output, event);
            else show(output, event);
        }),
      ),
    );
}

function show(output: Output, { event, data }: LiveEvent): void {
  const line = (cells: readonly string[]) => output.write(`${cells.map(plain).join("\t")}\n`);
  switch (event) {
    case "counts": {
      const text = (counts: Record<string, number>) =>
        Object.entries(counts)
          .filter(([, count]) => count > 0)
          .map(([status, count]) => `${count} ${status}`)
          .join(", ") || "no jobs";
      line([data.at, "all", text(data.counts)]);
      for (const { queue, counts } of data.queues) line([data.at, queue, text(counts)]);
      return;
    }
    case "finished":
      for (const { finished_at, queue, status, type, id } of data.items) line([finished_at, queue, status, type, id]);
      if (data.more) output.tell("… and more\n");
      return;
    case "end":
      return output.tell(data.reason === "draining" ? "the API stops\n" : "the token has ended\n");
    default:
      event satisfies never;
  }
}
