import { resolve } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { callersFolder, readApiToken, readApiUrl, type Env } from "../../config.ts";
import { orExit } from "../../exit.ts";
import { importFile } from "../../jobs/import-file.ts";
import { jsonOption, urlOption } from "../../remote/options.ts";
import { parseKeyPrefix } from "../../submit/key-prefix.ts";

const patience_ms = 60_000;

export function defineImport(jobs: Command, env: Env): void {
  jobs
    .command("import")
    .description("Submit the jobs of a file, one per line, as one stream.")
    .argument("<file>", 'NDJSON: {"type", "payload", …, "idempotency_key"?} per line; - is stdin')
    .option("--refused <path>", "Write each refused line's number and reason to this file, as NDJSON")
    .option("--key-prefix <text>", "Start of the keys of lines without one", parseKeyPrefix, "file")
    .addOption(urlOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nLines get keys as with submit --file: the same file again creates nothing twice, and goes on where it stopped.",
    )
    .action((file, { refused, keyPrefix, url, json }) =>
      orExit(async () => {
        const folder = callersFolder(env);
        process.exitCode = await importFile({
          target: { url: url ?? readApiUrl(env), token: readApiToken(env), patience_ms },
          file: file === "-" ? file : resolve(folder, file),
          refused: refused === undefined ? undefined : resolve(folder, refused),
          key_prefix: keyPrefix,
          json,
          write: (text) => void process.stdout.write(text),
        });
      }),
    );
}
