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
    .option("--action <name>", "Filter by action, such as queue.pause")
    .option("--token <id>", "Filter by token ID")
    .option("--target <name>", "Filter by queue, schedule or ID")
    .option("--after <time>", "Only after this time (RFC 3339)")
    .option("--before <time>", "Only before this time (RFC 3339)")
    .option("--limit <n>", "How many to list", (text) => integer(text, 1, entries_max), limits.list_items_default)
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
          if (items.length === 0) return output.tell("No matching audit entries\n");
          showTable(output, columns, items);
        }),
      ),
    );
}
