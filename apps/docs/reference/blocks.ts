import { isFinal } from "@atlasqueue/contract";
import { cliCommands, cliList } from "./cli.ts";
import { explanationSections, problemTable } from "./codes.ts";
import { statusTable, storedFields, submittedFields } from "./jobs.ts";
import { limitTable } from "./limits.ts";
import { logTable } from "./log-events.ts";
import { metricList } from "./metrics.ts";
import { settingTables } from "./settings.ts";

/** What the code says, by the name of the block in a page. */
export async function blocks(): Promise<Record<string, string>> {
  return {
    ...settingTables(),
    cli: cliList(await cliCommands()),
    "explain-codes": explanationSections(),
    errors: problemTable(),
    "job-fields": submittedFields(),
    "stored-fields": storedFields(),
    limits: limitTable(),
    "log-events": logTable(),
    metrics: metricList(),
    statuses: statusTable(isFinal),
  };
}

const block = /<!-- from the code: ([a-z-]+) -->\n.*?<!-- end -->/gs;

/** The names of the blocks that a page has. */
export const blocksIn = (page: string): string[] => [...page.matchAll(block)].map(([, name = ""]) => name);

/** A page with its blocks written anew. */
export function withBlocks(page: string, known: Record<string, string>): string {
  return page.replaceAll(block, (_all, name: string) => {
    const text = known[name];
    if (text === undefined) throw new Error(`there is no block ${name}`);
    return `<!-- from the code: ${name} -->\n\n${text}\n\n<!-- end -->`;
  });
}
