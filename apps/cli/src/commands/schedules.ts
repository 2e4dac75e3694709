import { catchUps } from "@atlasqueue/contract";
import { Option, type Command } from "@commander-js/extra-typings";
import { parsePayload, parseUrl } from "../arguments.ts";
import { apiAt } from "../call-api.ts";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { change, create, list, remove, setPaused, show, type ScheduleFields } from "../schedules/actions.ts";
import { jobFieldOptions, jobFields } from "../submit/job-fields.ts";

const ioOf = (json: boolean) => ({
  json,
  write: (text: string) => void process.stdout.write(text),
  tell: (text: string) => void process.stderr.write(text),
});

const urlOption = () =>
  new Option("--url <url>", "the API (default: ATLASQUEUE_URL, or http://127.0.0.1:8000)").argParser(parseUrl);
const jsonOption = () => new Option("--json", "tell the result as one line of JSON").default(false);
const timezoneOption = () => new Option("--timezone <zone>", "whose clocks count, such as Europe/Berlin");
const catchUpOption = () =>
  new Option("--catch-up <which>", "of the runs missed in a downtime, fire none, the latest one, or all").choices(
    catchUps,
  );

export function addSchedules(program: Command, env: Env): void {
  const schedules = program
    .command("schedules")
    .description("Jobs that come back by cron, at a running API.")
    .addHelpText("after", "\nAn API with AUTH=required is shown ATLASQUEUE_TOKEN; changes need the scope admin.");

  schedules
    .command("list")
    .description("Show all schedules.")
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json }) => orExit(() => list(apiAt(url, env), ioOf(json))));

  schedules
    .command("create")
    .description("Create a schedule. It fires from its next run on.")
    .argument("<name>", "unique among the schedules")
    .argument("<cron>", "five fields, such as '30 2 * * MON-FRI'")
    .argument("<type>", "the jobs' type")
    .argument("[json]", "their payload, a JSON object (default: {})", parsePayload)
    .addOption(timezoneOption())
    .addOption(catchUpOption())
    .addOption(jobFieldOptions.queue)
    .addOption(jobFieldOptions.priority)
    .addOption(jobFieldOptions.maxAttempts)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action((name, cron, type, payload, options) =>
      orExit(() => {
        const job = { type, ...(payload === undefined ? {} : { payload }), ...jobFields(options) };
        return create(
          apiAt(options.url, env),
          { name, ...scheduleFields({ ...options, cron }), job },
          ioOf(options.json),
        );
      }),
    );

  schedules
    .command("change")
    .description("Change a schedule; what is not given stays. Another cron or time zone counts from now on.")
    .argument("<name>")
    .option("--cron <fields>", "five fields, such as '30 2 * * MON-FRI'")
    .addOption(timezoneOption())
    .addOption(catchUpOption())
    .option("--type <type>", "the jobs' type")
    .option("--payload <json>", "their payload, a JSON object", parsePayload)
    .addOption(jobFieldOptions.queue)
    .addOption(jobFieldOptions.priority)
    .addOption(jobFieldOptions.maxAttempts)
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
        return change(apiAt(options.url, env), name, { ...scheduleFields(options), job }, ioOf(options.json));
      }),
    );

  const byName = (verb: string, description: string) =>
    schedules.command(verb).description(description).argument("<name>").addOption(urlOption()).addOption(jsonOption());
  byName("show", "Show a schedule and its next five runs.").action((name, { url, json }) =>
    orExit(() => show(apiAt(url, env), name, ioOf(json))),
  );
  byName("pause", "Fire nothing until it is resumed.").action((name, { url, json }) =>
    orExit(() => setPaused(apiAt(url, env), name, "pause", ioOf(json))),
  );
  byName("resume", "Fire again, from the next run on.").action((name, { url, json }) =>
    orExit(() => setPaused(apiAt(url, env), name, "resume", ioOf(json))),
  );
  byName("delete", "Delete a schedule; the jobs that it made stay.").action((name, { url, json }) =>
    orExit(() => remove(apiAt(url, env), name, ioOf(json))),
  );
}

type Flags = { cron?: string | undefined; timezone?: string | undefined; catchUp?: string | undefined };

function scheduleFields({ cron, timezone, catchUp }: Flags): ScheduleFields {
  return {
    ...(cron === undefined ? {} : { cron }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(catchUp === undefined ? {} : { catch_up: catchUp }),
  };
}
