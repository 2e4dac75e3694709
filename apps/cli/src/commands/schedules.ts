import { catchUps, type CatchUp } from "@atlasqueue/contract";
import { Option, type Command } from "@commander-js/extra-typings";
import { parsePayload } from "../arguments.ts";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { outputOf } from "../output/output.ts";
import { jsonOption, urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";
import { change, create, list, remove, setPaused, show, type ScheduleFields, runNow } from "../schedules/actions.ts";
import { jobFieldOptions, jobFields } from "../submit/job-fields.ts";

const timezoneOption = () => new Option("--timezone <zone>", "Time zone of the cron fields, such as Europe/Berlin");
const catchUpOption = () =>
  new Option(
    "--catch-up <which>",
    "Which runs missed during downtime to make up for: none, the latest, or all",
  ).choices(catchUps);

export function defineSchedules(schedules: Command, env: Env): void {
  schedules.addHelpText("after", "\nAn API with AUTH=required is sent ATLASQUEUE_TOKEN; changes need the scope admin.");

  schedules
    .command("list")
    .description("List schedules.")
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json }) => orExit(() => withClient(env, { url }, (client) => list(client, outputOf({ json })))));

  schedules
    .command("create")
    .description("Create a schedule. It runs from its next time on.")
    .argument("<name>", "Schedule name")
    .argument("<cron>", "Five fields, such as '30 2 * * MON-FRI'")
    .argument("<type>", "Type of the jobs")
    .argument("[json]", "Payload of the jobs, a JSON object (default: {})", parsePayload)
    .addOption(timezoneOption())
    .addOption(catchUpOption())
    .addOption(jobFieldOptions.queue)
    .addOption(jobFieldOptions.priority)
    .addOption(jobFieldOptions.maxAttempts)
    .addOption(jobFieldOptions.expiresIn)
    .addOption(jobFieldOptions.tag)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((name, cron, type, payload, options) =>
      orExit(() => {
        const job = { type, ...(payload === undefined ? {} : { payload }), ...jobFields(options) };
        const definition = { name, cron, ...scheduleFields(options), job };
        return withClient(env, options, (client) => create(client, definition, outputOf(options)));
      }),
    );

  schedules
    .command("change")
    .description("Change a schedule; what is not given stays. A new cron or time zone applies from now on.")
    .argument("<name>")
    .option("--cron <fields>", "Five fields, such as '30 2 * * MON-FRI'")
    .addOption(timezoneOption())
    .addOption(catchUpOption())
    .option("--type <type>", "Type of the jobs")
    .option("--payload <json>", "Payload of the jobs, a JSON object", parsePayload)
    .addOption(jobFieldOptions.queue)
    .addOption(jobFieldOptions.priority)
    .addOption(jobFieldOptions.maxAttempts)
    .addOption(jobFieldOptions.expiresIn)
    .addOption(jobFieldOptions.tag)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((name, options) =>
      orExit(() => {
        const { type, payload } = options;
        const job = {
          ...(type === undefined ? {} : { type }),
          ...(payload === undefined ? {} : { payload }),
          ...jobFields(options),
        };
        const changes = { ...scheduleFields(options), job };
        return withClient(env, options, (client) => change(client, name, changes, outputOf(options)));
      }),
    );

  const byName = (verb: string, description: string) =>
    schedules.command(verb).description(description).argument("<name>").addOption(urlOption()).addOption(jsonOption());
  byName("show", "Show a schedule and its next five runs.").action((name, { url, json }) =>
    orExit(() => withClient(env, { url }, (client) => show(client, name, outputOf({ json })))),
  );
  byName("pause", "Pause a schedule. Its jobs go on.").action((name, { url, json }) =>
    orExit(() => withClient(env, { url }, (client) => setPaused(client, name, "pause", outputOf({ json })))),
  );
  byName("resume", "Resume a schedule, from its next run on.").action((name, { url, json }) =>
    orExit(() => withClient(env, { url }, (client) => setPaused(client, name, "resume", outputOf({ json })))),
  );
  byName("run", "Submit a schedule's job now, in addition to its runs.").action((name, { url, json }) =>
    orExit(() => withClient(env, { url }, (client) => runNow(client, name, outputOf({ json })))),
  );
  byName("delete", "Delete a schedule; the jobs it made stay.").action((name, { url, json }) =>
    orExit(() => withClient(env, { url }, (client) => remove(client, name, outputOf({ json })))),
  );
}

type Flags = { cron?: string | undefined; timezone?: string | undefined; catchUp?: CatchUp | undefined };

function scheduleFields({ cron, timezone, catchUp }: Flags): ScheduleFields {
  return {
    ...(cron === undefined ? {} : { cron }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(catchUp === undefined ? {} : { catch_up: catchUp }),
  };
}
