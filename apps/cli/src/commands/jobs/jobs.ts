import { jobStatuses, limits, type ChangedJob, type Job, type SendSignalAnswer } from "@atlasqueue/contract";
import { AtlasQueueError } from "@atlasqueue/client";
import { Argument, Option, type Command } from "@commander-js/extra-typings";
import type { Env } from "../../config.ts";
import { exitCodes, orExit } from "../../exit.ts";
import { changeMany } from "../../jobs/bulk.ts";
import { jobColumns, showJob } from "../../jobs/show.ts";
import { outputOf, writeJson, type Output } from "../../output/output.ts";
import { plain } from "../../output/plain.ts";
import { showTable } from "../../output/table.ts";
import { jsonOption, parseId, parseIds, parseQueue, parseSignal, urlOption, yesOption } from "../../remote/options.ts";
import { defineImport } from "./import.ts";
import { parseJson, parseObject } from "../../submit/parse-object.ts";
import { withClient } from "../../remote/with-client.ts";
import { integer, parseTag } from "../../submit/job-fields.ts";

const jobs_max = 100_000;

export function defineJobs(jobs: Command, env: Env): void {
  defineImport(jobs, env);
  jobs
    .command("list")
    .description("List jobs, newest first.")
    .option("--queue <name>", "Filter by queue", parseQueue)
    .option("--type <type>", "Filter by type")
    .addOption(new Option("--status <status>", "Filter by status").choices(jobStatuses))
    .option("--group <name>", "Filter by group")
    .option("--tag <tag>", "Filter by tag", parseTag)
    .option("--worker <id>", "Filter by worker: only jobs that it runs")
    .option("--key <key>", "Filter by idempotency key")
    .option("--search <text>", "Filter by a text in payload, result or error")
    .option("--limit <n>", "How many to list", (text) => integer(text, 1, jobs_max), limits.list_items_default)
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
          if (items.length === 0) return output.tell("No matching jobs\n");
          showTable(output, jobColumns, items);
        }),
      ),
    );

  jobs
    .command("show")
    .description("Show a job: all its fields, its attempts, and why it is not running.")
    .argument("<id>", "Job ID", parseId)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((id, { url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const [job, attempts, explanation] = await Promise.all([
            client.get(id),
            client.attempts(id),
            client.explain(id),
          ]);
          const output = outputOf({ json });
          const { reasons, trace_id, trace_url } = explanation;
          if (json) return writeJson(output, { job, attempts, reasons, trace_id, trace_url });
          showJob(output, job, attempts, explanation);
        }),
      ),
    );

  for (const [verb, done, description] of [
    ["cancel", "cancelled", "Cancel unfinished jobs. A running job's handler is aborted."],
    ["retry", "queued again", "Retry dead, cancelled or failed jobs, now and with all their attempts."],
  ] as const)
    jobs
      .command(verb)
      .description(description)
      .argument("<id...>", "Job IDs", parseIds)
      .addOption(urlOption())
      .addOption(jsonOption())
      .action((ids, { url, json }) =>
        orExit(() =>
          withClient(env, { url }, (client) => changeEach(outputOf({ json }), (id) => client[verb](id), done, ids)),
        ),
      );

  jobs
    .command("signal")
    .description("Send a signal to a job that waits for it, or will.")
    .argument("<id>", "Job ID", parseId)
    .argument("<name>", "Signal name", parseSignal)
    .option("--payload <json>", "Payload for the handler, any JSON", parseJson)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((id, name, { payload, url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const outcome = await client.signal(id, name, payload);
          if (outcome !== "sent") process.exitCode = exitCodes.failed;
          if (json) return writeJson(output, { outcome });
          output.tell(`${plain(name)} ${signalWords[outcome]} ${id}\n`);
        }),
      ),
    );

  jobs
    .command("delete")
    .description("Delete finished jobs, with their attempts.")
    .argument("<id...>", "Job IDs", parseIds)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((ids, { url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const remove = async (id: string) => {
            const job = await client.get(id);
            await client.delete(id);
            return job;
          };
          await changeEach(outputOf({ json }), remove, "deleted", ids);
        }),
      ),
    );

  jobs
    .command("edit")
    .description("Run a dead, cancelled or failed job again, with another payload.")
    .argument("<id>", "Job ID", parseId)
    .option("--patch <json>", "JSON merged into the payload; null removes a field", parseObject)
    .option("--payload <json>", "The new payload, in which null stays", parseObject)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((id, { patch, payload, url, json }) =>
      orExit(() => {
        const edit = patch ? { patch } : payload && { payload };
        if (!edit || (patch && payload)) return jobs.error("Give either --patch or --payload.");
        return withClient(env, { url }, (client) =>
          changeEach(outputOf({ json }), (one) => client.editAndRetry(one, edit), "queued again", [id]),
        );
      }),
    );

  jobs
    .command("bulk")
    .description(
      "Cancel, retry, delete or purge all matching jobs, in the background. Counts them and asks first. A purge leaves running jobs.",
    )
    .addArgument(new Argument("<action>", "What to do").choices(["cancel", "retry", "delete", "purge"] as const))
    .option("--queue <name>", "Filter by queue", parseQueue)
    .option("--type <type>", "Filter by type")
    .addOption(new Option("--status <status>", "Filter by status").choices(jobStatuses))
    .option("--group <name>", "Filter by group")
    .option("--tag <tag>", "Filter by tag", parseTag)
    .option("--worker <id>", "Filter by worker: only jobs that it runs")
    .option("--key <key>", "Filter by idempotency key")
    .option("--search <text>", "Filter by a text in payload, result or error")
    .option("--all", "All jobs", false)
    .addOption(new Option("--dry-run", "Count them, and change nothing").default(false))
    .addOption(yesOption())
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((action, { all, dryRun, yes, url, json, ...given }) =>
      orExit(() => {
        const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
        if (all === Object.keys(filter).length > 0)
          return jobs.error(
            "Give a filter (--queue, --type, --status, --group, --tag, --worker, --key, --search), or --all.",
          );
        const wish = { kind: action, ...(all ? { all } : { filter }) };
        const options = { dry_run: dryRun, yes };
        return withClient(env, { url }, (client) => changeMany(client, wish, options, outputOf({ json })));
      }),
    );
}

const signalWords: Record<SendSignalAnswer["outcome"], string> = {
  sent: "was sent to",
  sent_before: "changed nothing: a signal of this name was sent before to",
  too_late: "came too late for",
};

/** One after another; a refused one is reported and does not stop the others. */
async function changeEach(
  output: Output,
  act: (id: string) => Promise<ChangedJob>,
  done: string,
  ids: readonly string[],
): Promise<void> {
  const items: ({ id: string; job: ChangedJob } | { id: string; error: string })[] = [];
  for (const id of ids) {
    try {
      items.push({ id, job: await act(id) });
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
