import { jobStatuses, limits, type Job } from "@atlasqueue/contract";
import { AtlasQueueError, type Client } from "@atlasqueue/client";
import { Option, type Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { exitCodes, orExit } from "../exit.ts";
import { jobColumns, showJob } from "../jobs/show.ts";
import { outputOf, writeJson, type Output } from "../output/output.ts";
import { plain } from "../output/plain.ts";
import { showTable } from "../output/table.ts";
import { jsonOption, parseId, parseIds, parseQueue, urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";
import { integer } from "../submit/job-fields.ts";

const jobs_max = 100_000;

export function defineJobs(jobs: Command, env: Env): void {
  jobs
    .command("list")
    .description("List jobs, newest first.")
    .option("--queue <name>", "of this queue", parseQueue)
    .option("--type <type>", "of this type")
    .addOption(new Option("--status <status>", "with this status").choices(jobStatuses))
    .option("--group <name>", "of this group")
    .option("--limit <n>", "at most this many", (text) => integer(text, 1, jobs_max), limits.list_items_default)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json, limit, ...given }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
          const pageSize = Math.min(limit, limits.list_items_max);
          const items: Job[] = [];
          for await (const job of client.list({ ...filter, limit, pageSize })) items.push(job);
          if (json) return writeJson(output, { items });
          if (items.length === 0) return output.tell("there are no such jobs\n");
          showTable(output, jobColumns, items);
        }),
      ),
    );

  jobs
    .command("show")
    .description("Show a job: all its fields, its attempts, and why it is not running.")
    .argument("<id>", "of the job", parseId)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((id, { url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const [job, attempts, { reasons }] = await Promise.all([
            client.get(id),
            client.attempts(id),
            client.explain(id),
          ]);
          const output = outputOf({ json });
          if (json) return writeJson(output, { job, attempts, reasons });
          showJob(output, job, attempts, reasons);
        }),
      ),
    );

  for (const [verb, done, description] of [
    ["cancel", "cancelled", "End unfinished jobs; a running job's handler is aborted."],
    ["retry", "queued again", "Queue dead, cancelled or failed jobs again, now and with all their attempts."],
  ] as const)
    jobs
      .command(verb)
      .description(description)
      .argument("<id...>", "of the jobs", parseIds)
      .addOption(urlOption())
      .addOption(jsonOption())
      .action((ids, { url, json }) =>
        orExit(() => withClient(env, { url }, (client) => change(outputOf({ json }), client, verb, done, ids))),
      );
}

/** One after another; a refused one is reported and does not stop the others. */
async function change(
  output: Output,
  client: Client,
  verb: "cancel" | "retry",
  done: string,
  ids: readonly string[],
): Promise<void> {
  const items: ({ id: string; job: Job } | { id: string; error: string })[] = [];
  for (const id of ids) {
    try {
      items.push({ id, job: await client[verb](id) });
      if (!output.json) output.tell(`${id} is ${done}\n`);
    } catch (error) {
      // Without an answer about this job, there will be none about the next ones either.
      if (!(error instanceof AtlasQueueError) || (error.status !== 404 && error.status !== 409)) throw error;
      items.push({ id, error: error.message });
      if (!output.json) output.tell(`${id} is not ${done}: ${plain(error.problem?.detail ?? error.message)}\n`);
      process.exitCode = exitCodes.failed;
    }
  }
  if (output.json) writeJson(output, { items });
}
