// A process that dials while it has no file left, and again once it has.
import { closeSync, openSync } from "node:fs";
import { connectDatabase } from "../src/database/connect.ts";

const database = connectDatabase({ url: process.argv[2] ?? "", connectionsMax: 1, timeoutMs: 5_000 });
const ask = () =>
  database.sql`SELECT 1`
    .then(
      () => "works",
      (error: NodeJS.ErrnoException) => String(error.code),
    )
    .then((line) => process.stdout.write(`${line}\n`));

async function withoutFiles(work: () => Promise<unknown>): Promise<void> {
  const files: number[] = [];
  try {
    for (;;) files.push(openSync("/dev/null", "r"));
  } catch {
    await work();
  } finally {
    for (const file of files) closeSync(file);
  }
}

await withoutFiles(ask);
await withoutFiles(ask);
await ask();
await database.close();
