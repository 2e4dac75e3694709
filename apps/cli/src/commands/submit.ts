import { resolve } from "node:path";
import { InvalidArgumentError, type Command } from "@commander-js/extra-typings";
import { idempotencyKeyAccepts, parseIdempotencyKey } from "@atlasqueue/contract";
import { parsePayload } from "../arguments.ts";
import { callersFolder, readApiToken, readApiUrl, type Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { jsonOption, urlOption } from "../remote/options.ts";
import { integer, jobFieldOptions, jobFields, number } from "../submit/job-fields.ts";
import { parseKeyPrefix } from "../submit/key-prefix.ts";
import { submitFile } from "../submit/submit-file.ts";
import { submitOne } from "../submit/submit-one.ts";

const write = (text: string) => void process.stdout.write(text);
const patience_ms = { one: 5_000, file: 60_000 };

export function defineSubmit(submit: Command, env: Env): void {
  const command = submit
    .argument("[type]", "Type of the job, such as demo.echo")
    .argument("[json]", "Payload of the job, a JSON object (default: {})", parsePayload)
    .option("--file <path>", 'Jobs as NDJSON: {"type", "payload", …, "idempotency_key"?} per line; - is stdin')
    .addOption(urlOption())
    .option("--key <key>", "Idempotency-Key (default: a random one, printed)", parseKey)
    .addOption(jobFieldOptions.queue)
    .addOption(jobFieldOptions.priority)
    .addOption(jobFieldOptions.delay)
    .addOption(jobFieldOptions.maxAttempts)
    .addOption(jobFieldOptions.expiresIn)
    .addOption(jobFieldOptions.tag)
    .option("--wait <seconds>", "Wait for the job to finish and print it; exit 1 unless it succeeded", parseWait)
    .option("--concurrency <n>", "With --file: how many requests at once", (text) => integer(text, 1, 1_000), 20)
    .option("--key-prefix <text>", "With --file: start of the keys of lines without one", parseKeyPrefix, "file")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nA line without a key gets one made from the file's name, the line's number and its content, so sending the same" +
        "\nfile again creates nothing twice while the API keeps keys (24 hours by default). An API that is down or busy is" +
        "\nretried for up to a minute with --file and 5 s without. The options above fill in what a line leaves out.",
    );
  command.action((type, payload, options) =>
    orExit(async () => {
      if ((type === undefined) === (options.file === undefined)) command.error("Give either a type or --file.");
      const url = options.url ?? readApiUrl(env);
      const token = readApiToken(env);
      const fields = jobFields(options);
      if (type !== undefined) {
        const wait_ms = options.wait === undefined ? undefined : options.wait * 1_000;
        const request = { type, ...(payload === undefined ? {} : { payload }), ...fields };
        const target = { url, token, patience_ms: patience_ms.one };
        process.exitCode = await submitOne({ target, key: options.key, request, wait_ms, json: options.json, write });
        return;
      }
      if (options.key !== undefined || options.wait !== undefined)
        command.error("--key and --wait are for one job; with --file, lines carry their own idempotency_key.");
      const path = options.file ?? "-";
      process.exitCode = await submitFile({
        target: { url, token, patience_ms: patience_ms.file },
        file: path === "-" ? path : resolve(callersFolder(env), path),
        key_prefix: options.keyPrefix,
        concurrency: options.concurrency,
        defaults: fields,
        json: options.json,
        write,
      });
    }),
  );
}

function parseKey(text: string): string {
  if (parseIdempotencyKey(text) === undefined) throw new InvalidArgumentError(`It must be ${idempotencyKeyAccepts}.`);
  return text;
}

function parseWait(text: string): number {
  return number(text, 0, 86_400);
}
