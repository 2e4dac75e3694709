import { readFile } from "node:fs/promises";
import { migrateDatabase } from "@atlasqueue/core";
import postgres from "postgres";
import type { ServerUrls } from "./variant.ts";

const role = "bench_app";
const makeRole = `
  DO $$ BEGIN
    CREATE ROLE ${role} LOGIN PASSWORD '${role}';
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
  END $$`;

/** Of each database once: two GRANTs at a time fail. */
const migrated = new Map<string, Promise<void>>();

/** Migrates as the owner, and grants the role what `migrate --grant` grants. */
export function migrate({ postgres: url }: ServerUrls): Promise<void> {
  const made = migrated.get(url) ?? makeAll(url);
  migrated.set(url, made);
  return made;
}

async function makeAll(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  await sql.unsafe(makeRole);
  await sql.end();
  await migrateDatabase(url, { grant: role });
  await runAfterMigrate(url);
}

/** The servers as the programs reach them in production: by a role that only reads and writes rows. */
export function asGranted(servers: ServerUrls): ServerUrls {
  const url = new URL(servers.postgres);
  url.username = role;
  url.password = role;
  return { ...servers, postgres: url.href };
}

/** What `BENCH_AFTER_MIGRATE` names: SQL that tries another index or storage setting without a migration. */
export async function runAfterMigrate(url: string): Promise<void> {
  const file = process.env["BENCH_AFTER_MIGRATE"];
  if (file === undefined || file === "") return;
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  await sql.unsafe(await readFile(file, "utf8")).finally(() => sql.end());
}
