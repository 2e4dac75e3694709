import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { migrationsFolder } from "../src/database/migrate.ts";

// They stand at the root of the repository, where people look for them; the package carries a copy. Without the
// snapshots, which only the making of the next migration needs.
cpSync(migrationsFolder, fileURLToPath(new URL("../dist/drizzle", import.meta.url)), {
  recursive: true,
  filter: (file) => !file.endsWith("_snapshot.json"),
});
