import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import "./provided.ts";
import { makeClusterTemplate } from "./cluster-template.ts";
import { ownServers } from "./servers.ts";
import { createMigratedTemplate } from "./test-database.ts";

/** Vitest's globalSetup: one PostgreSQL and one Redis for the whole run, gone without a trace after it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-test-"));
  chmodSync(folder, 0o755);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const template = await makeClusterTemplate(folder);
    const { postgres, redis, stop } = await ownServers(template);
    project.provide("postgresUrl", postgres.url);
    project.provide("redisUrl", redis.url);
    project.provide("clusterTemplate", template);
    project.provide("migratedTemplate", await createMigratedTemplate(postgres.url));
    return async () => {
      await stop();
      remove();
    };
  } catch (error) {
    remove();
    throw error;
  }
}
