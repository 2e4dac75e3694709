import { readdir } from "node:fs/promises";
import { composedStatements } from "../src/database/composed.ts";

const source = new URL("../src/", import.meta.url);

/** Every statement that is composed anywhere: modules compose theirs as they are imported. */
export async function allStatements(): Promise<ReturnType<typeof composedStatements>> {
  const files = await readdir(source, { recursive: true });
  for (const file of files) if (/(?<!\.test|-main)\.ts$/.test(file)) await import(new URL(file, source).href);
  return composedStatements();
}
