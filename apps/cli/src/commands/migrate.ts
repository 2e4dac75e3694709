import type { Command } from "@commander-js/extra-typings";
import { readDatabase, type Env } from "../config.ts";
import { orExit } from "../exit.ts";

export function defineMigrate(command: Command, env: Env): void {
  command
    .option("--print", "print the SQL for a database without tables, and change nothing")
    .option("--grant <role>", "then give this role what the API and the workers need")
    .action(({ print, grant }) =>
      orExit(async () => {
        const { url, schema } = readDatabase(env);
        if (print) {
          const { grantStatements, migrationScript } = await import("@atlasqueue/core/internal");
          const grants = grant === undefined ? [] : grantStatements(grant, { schema });
          process.stdout.write(migrationScript({ schema }) + grants.map((text) => `${text};\n`).join(""));
          return;
        }
        const { migrateDatabase } = await import("@atlasqueue/core");
        await migrateDatabase(url, { schema, grant, tell: (line) => void process.stderr.write(`${line}\n`) });
        process.stdout.write(`${placeOf(url)} has the newest tables in the schema ${schema}\n`);
      }),
    );
}

/** Without a login and settings. There may be several hosts, which is no URL to others. */
function placeOf(url: string): string {
  const [, place = "the database"] = /^[^/]*\/\/(?:[^/]*@)?([^?]*)/.exec(url) ?? [];
  return place;
}
