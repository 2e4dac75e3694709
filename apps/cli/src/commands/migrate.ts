import type { Command } from "@commander-js/extra-typings";
import { readDatabase, type Env } from "../config.ts";
import { orExit } from "../exit.ts";

export function defineMigrate(command: Command, env: Env): void {
  command
    .option("--print", "Print the SQL for a database without tables, and change nothing")
    .option("--grant <role>", "Then give this role what the API and the workers need")
    .option("--grant-submit <role>", "Then let this role submit jobs in SQL, for one tenant")
    .option("--tenant <name>", "Tenant of --grant-submit", "default")
    .action(({ print, grant, grantSubmit: role, tenant }) =>
      orExit(async () => {
        const { url, schema } = readDatabase(env);
        if (print) {
          const { grantStatements, grantSubmitStatements, migrationScript } =
            await import("@atlasqueue/core/internal/tools");
          const grants = grant === undefined ? [] : grantStatements(grant, { schema });
          if (role !== undefined) grants.push(...grantSubmitStatements(role, { tenant, schema }));
          process.stdout.write(migrationScript({ schema }) + grants.map((text) => `${text};\n`).join(""));
          return;
        }
        const { migrateDatabase } = await import("@atlasqueue/core");
        const grantSubmit = role === undefined ? undefined : { role, tenant };
        await migrateDatabase(url, {
          schema,
          grant,
          grantSubmit,
          tell: (line) => void process.stderr.write(`${line}\n`),
        });
        process.stdout.write(`${placeOf(url)} has the newest tables in the schema ${schema}\n`);
      }),
    );
}

/** Without a login and settings. There may be several hosts, which is no URL to others. */
function placeOf(url: string): string {
  const [, place = "the database"] = /^[^/]*\/\/(?:[^/]*@)?([^?]*)/.exec(url) ?? [];
  return place;
}
