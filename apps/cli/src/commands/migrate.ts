import type { Command } from "@commander-js/extra-typings";
import { readDatabase, type Env } from "../config.ts";
import { orExit } from "../exit.ts";

export function defineMigrate(command: Command, env: Env): void {
  command.action(() =>
    orExit(async () => {
      const { url, schema } = readDatabase(env);
      const { migrateDatabase } = await import("@atlasqueue/core");
      await migrateDatabase(url, { schema, tell: (line) => void process.stderr.write(`${line}\n`) });
      process.stdout.write(`${placeOf(url)} has the newest tables in the schema ${schema}\n`);
    }),
  );
}

/** Without a login and settings. There may be several hosts, which is no URL to others. */
function placeOf(url: string): string {
  const [, place = "the database"] = /^[^/]*\/\/(?:[^/]*@)?([^?]*)/.exec(url) ?? [];
  return place;
}
