import type { Command } from "@commander-js/extra-typings";
import { migrateDatabase } from "@atlasqueue/core";
import { readDatabaseUrl, type Env } from "../config.ts";
import { orExit } from "../exit.ts";

export function addMigrate(program: Command, env: Env): void {
  program
    .command("migrate")
    .description("Bring the database at DATABASE_URL to the newest schema. Safe to run twice, and at the same time.")
    .action(() =>
      orExit(async () => {
        const url = readDatabaseUrl(env);
        await migrateDatabase(url);
        const { host, pathname } = new URL(url);
        process.stdout.write(`${host}${pathname} has the newest schema\n`);
      }),
    );
}
