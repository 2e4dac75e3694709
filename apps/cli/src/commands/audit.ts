import { limits, type AuditEntry } from "@atlasqueue/contract";
import type { Command } from "@commander-js/extra-typings";
import type { Env } from "../config.ts";
import { orExit } from "../exit.ts";
import { outputOf, writeJson } from "../output/output.ts";
import { second } from "../output/plain.ts";
import { showTable, type Columns } from "../output/table.ts";
import { jsonOption, urlOption } from "../remote/options.ts";
import { withClient } from "../remote/with-client.ts";
import { integer } from "../submit/job-fields.ts";

const entries_max = 10_000;

const columns: Columns<AuditEntry> = {
  at: ({ at }) => second(at),
  by: ({ actor: { name, kind } }) => (name === null ? kind : `${name} (${kind})`),
  action: ({ action, finished, refused }) =>
    `${action}${refused ? ` (refused ${refused}×)` : finished ? "" : " (unfinished)"}`,
  target: ({ target }) => target ?? "",
  count: ({ count }) => String(count ?? ""),
  from: ({ address }) => address ?? "",
  detail: ({ detail }) => (detail === null ? "" : JSON.stringify(detail)),
};

export function defineAudit(command: Command, env: Env): void {
  command
    .option("--action <name>", "of this kind, such as queue.pause")
    .option("--token <id>", "by this token")
    .option("--target <name>", "done to this queue, schedule or id")
    .option("--after <time>", "from this time on (RFC 3339)")
    .option("--before <time>", "up to this time")
    .option("--limit <n>", "at most this many", (text) => integer(text, 1, entries_max), limits.list_items_default)
    .addOption(urlOption())
    .addOption(jsonOption())
    .action(({ url, json, limit, ...filter }) =>
      orExit(() =>
        withClient(env, { url }, async (client) => {
          const output = outputOf({ json });
          const items: AuditEntry[] = [];
          for (let cursor: string | null = ""; cursor !== null && items.length < limit;) {
            const page = await client.audit({
              ...filter,
              limit: Math.min(limit - items.length, limits.list_items_max),
              ...(cursor !== "" && { cursor }),
            });
            items.push(...page.items);
            cursor = page.next_cursor;
          }
          if (json) return writeJson(output, { items });
          if (items.length === 0) return output.tell("nothing of this kind was done\n");
          showTable(output, columns, items);
        }),
      ),
    );
}
