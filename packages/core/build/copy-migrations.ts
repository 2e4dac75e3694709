import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { migrationsFolder } from "../src/database/migrating/journal.ts";

// They are at the root of the repository, where people look for them; the package carries a copy, without the
// snapshots, which are only needed to make the next migration.
cpSync(migrationsFolder, fileURLToPath(new URL("../dist/drizzle", import.meta.url)), {
  recursive: true,
  filter: (file) => !file.endsWith("_snapshot.json"),
});
