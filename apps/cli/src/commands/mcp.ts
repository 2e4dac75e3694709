import { defaultToolsets, toolsetList, toolsets, type Toolset } from "@atlasqueue/contract";
import { InvalidArgumentError, type Command } from "@commander-js/extra-typings";
import { readApiToken, readApiUrl, type Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { urlOption } from "../remote/options.ts";
import { version } from "../version.ts";

/** A model is waiting, and its host gives a call a minute. */
const retry_ms_max = 10_000;

export function defineMcp(command: Command, env: Env): void {
  command
    .addOption(urlOption())
    .option(
      "--toolsets <names>",
      `Toolsets, separated by commas: ${toolsets.join(", ")} (default: ${defaultToolsets.join(",")})`,
      parseToolsets,
    )
    .addHelpText(
      "after",
      "\nFor assistants and editors, which start it themselves: it speaks MCP on stdin and stdout until stdin is closed.\n" +
        "The token in ATLASQUEUE_TOKEN decides which tools it lists.",
    )
    .action(({ url, toolsets: chosen = defaultToolsets }) =>
      orExit(async () => {
        const token = readApiToken(env);
        const { serveOverStdio } = await import("@atlasqueue/mcp");
        await serveOverStdio({
          reach: { url: url ?? readApiUrl(env), retry_ms_max, ...(token === undefined ? {} : { token }) },
          toolsets: chosen,
          version: version(),
          report: (error) => process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`),
        });
      }),
    );
}

function parseToolsets(text: string): readonly Toolset[] {
  const parsed = toolsetList.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`It must be ${toolsetList.description}.`);
}
