import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, startRedis, type EmbeddedPostgres, type EmbeddedRedis } from "@atlasqueue/embedded";
import { inject } from "vitest";
import { copyCluster, settings, type ClusterTemplate } from "./cluster-template.ts";
import "./provided.ts";

export type Servers = {
  readonly postgres: EmbeddedPostgres;
  readonly redis: EmbeddedRedis;
  /** Stops both and removes their data. */
  stop(): Promise<void>;
};

/**
 * A separate PostgreSQL and Redis for a test file that pauses, stops or kills them; everything else shares the run's.
 * The database is empty and unmigrated. All of them have one password, for both: a test may redirect what it runs to
 * another server, as when a name moves. Takes about half a second, so start it once per file.
 *
 * @example
 * const servers = await ownServers();
 * afterAll(() => servers.stop());
 */
export async function ownServers(template: ClusterTemplate = inject("clusterTemplate")): Promise<Servers> {
  const { password } = template;
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-test-"));
  // mkdtemp lets only us in; as root, PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const dataDir = join(folder, "postgres");
    await copyCluster(template, dataDir);
    const redis = await startRedis({ dir: join(folder, "redis"), password });
    const postgres = await startPostgres({ dataDir, settings }).catch(async (error) => {
      await redis.stop();
      throw error;
    });
    const stop = async () => {
      await Promise.all([postgres.stop(), redis.stop()]);
      remove();
    };
    return { postgres, redis, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/**
 * Just a Redis, for a test that fills it, makes it a replica, or needs two (with one password, when one name is to
 * reach both). Stopping it is up to you.
 *
 * @example
 * const redis = await ownRedis();
 * afterAll(() => redis.stop());
 */
export async function ownRedis(options: { password?: string; args?: readonly string[] } = {}): Promise<EmbeddedRedis> {
  return startRedis(options);
}
