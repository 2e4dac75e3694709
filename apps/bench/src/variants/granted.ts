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
export function migrate(servers: ServerUrls): Promise<void> {
  const made = migrated.get(servers.postgres) ?? makeAll(servers);
  migrated.set(servers.postgres, made);
  return made;
}

async function makeAll(servers: ServerUrls): Promise<void> {
  const { postgres: url } = servers;
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  await sql.unsafe(makeRole);
  await sql.end();
  await migrateDatabase(url, { grant: role });
  await runAfterMigrate(servers);
}

/** The servers as the programs reach them in production: by a role that only reads and writes rows. */
export function asGranted(servers: ServerUrls): ServerUrls {
  const url = new URL(servers.postgres);
  url.username = role;
  url.password = role;
  return { ...servers, postgres: url.href };
}

/** What is to be tried without a migration. */
export async function runAfterMigrate({ postgres: url, after_migrate }: ServerUrls): Promise<void> {
  if (after_migrate === undefined) return;
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  await sql.unsafe(after_migrate).finally(() => sql.end());
}
