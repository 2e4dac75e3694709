// The migrate step of an image without the `atlasqueue` command: node packages/core/src/program/migrate-main.ts
import { z } from "zod";
import { exitOnTrouble } from "./process.ts";
import { parseSettings, setting } from "./settings.ts";
import { migrateDatabase } from "../database/migrate.ts";

await exitOnTrouble(async () => {
  const { DATABASE_URL } = parseSettings(z.object({ DATABASE_URL: setting.databaseUrl() }), process.env);
  await migrateDatabase(DATABASE_URL);
  const { host, pathname } = new URL(DATABASE_URL);
  process.stdout.write(`${host}${pathname} has the newest schema\n`);
});
