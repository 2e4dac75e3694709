import type { Command } from "@commander-js/extra-typings";
import { readDatabaseUrl, type Env } from "../config.ts";
import { orExit } from "../exit.ts";

export function defineMigrate(command: Command, env: Env): void {
  command.action(() =>
    orExit(async () => {
      const url = readDatabaseUrl(env);
      const { migrateDatabase } = await import("@atlasqueue/core");
      await migrateDatabase(url, { tell: (line) => void process.stderr.write(`${line}\n`) });
      const { host, pathname } = new URL(url);
      process.stdout.write(`${host}${pathname} has the newest schema\n`);
    }),
  );
}
