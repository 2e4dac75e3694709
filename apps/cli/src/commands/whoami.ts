import type { Session } from "@atlasqueue/contract";
import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { outputOf, writeJson } from "../output/output.ts";
import { second } from "../output/plain.ts";
import { jsonOption, urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";

export function defineWhoami(command: Command, env: Env): void {
  command
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const session = await client.session.get();
          if (json) return writeJson(output, session);
          output.tell(`${inWords(session)}; the API is version ${session.version}\n`);
        }),
      ),
    );
}

function inWords({ auth, signed_in, tenant, scopes, token, until }: Session): string {
  if (auth === "disabled") return "the API checks no tokens (AUTH=disabled): anyone has full access";
  if (!signed_in) return "no token was sent: set ATLASQUEUE_TOKEN";
  const end = until === null ? "without an end" : `until ${second(until)}`;
  return `${token?.name} (${token?.hint}…) of the tenant ${tenant} may ${scopes.join(", ")}, ${end}`;
}
