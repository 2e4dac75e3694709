import type { TestProject } from "vitest/node";
import "./provided.ts";
import { ownServers } from "./servers.ts";
import { createMigratedTemplate } from "./test-database.ts";

/** Vitest's globalSetup: one PostgreSQL and one Redis for the whole run, gone without a trace after it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { postgres, redis, stop } = await ownServers();
  project.provide("postgresUrl", postgres.url);
  project.provide("redisUrl", redis.url);
  project.provide("migratedTemplate", await createMigratedTemplate(postgres.url));
  return stop;
}
