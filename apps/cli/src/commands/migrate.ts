import type { Command } from "@commander-js/extra-typings";
import { cellNamed, type Env } from "../config.ts";
import { orExit } from "../exit.ts";

export function defineMigrate(command: Command, env: Env): void {
  command
    .option("--print", "Print the SQL for a database without tables, and change nothing")
    .option("--grant <role>", "Then give this role what the API and the workers need")
    .option("--grant-submit <role>", "Then let this role submit jobs in SQL, for one tenant")
    .option("--tenant <name>", "Tenant of --grant-submit", "default")
    .option("--cell <name>", "Only this cell of CELLS_FILE; by default all of them, one after another")
    .action(({ print, grant, grantSubmit: role, tenant, cell }) =>
      orExit(async () => {
        const { readCells } = await import("@atlasqueue/program");
        const cells = readCells(env);
        const wanted = cell === undefined ? cells : [cellNamed(cells, cell)];
        for (const { database } of wanted) await migrate(database);
        async function migrate({ url, schema }: { url: string; schema: string }): Promise<void> {
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
          const tell = (line: string) => void process.stderr.write(`${line}\n`);
          await migrateDatabase(url, { schema, grant, grantSubmit, tell });
          process.stdout.write(`${placeOf(url)} has the newest tables in the schema ${schema}\n`);
        }
      }),
    );
}

/** Without a login and settings. There may be several hosts, which is no URL to others. */
function placeOf(url: string): string {
  const [, place = "the database"] = /^[^/]*\/\/(?:[^/]*@)?([^?]*)/.exec(url) ?? [];
  return place;
}
