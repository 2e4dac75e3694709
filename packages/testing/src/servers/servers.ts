import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, startRedis, type EmbeddedPostgres, type EmbeddedRedis } from "@atlasqueue/embedded";

export type Servers = {
  readonly postgres: EmbeddedPostgres;
  readonly redis: EmbeddedRedis;
  /** Stops both and removes their data. */
  stop(): Promise<void>;
};

// Safe here and twice as fast: the tests kill processes, and what a killed PostgreSQL wrote is still in the system's
// cache. Only a power failure loses it. synchronous_commit stays on: switching that off would lose rows when the
// process is killed.
const settings = { fsync: "off", synchronous_commit: "on" };

// One for all servers of a process: a test may redirect what it runs to another server, as when a name moves.
const password = randomBytes(24).toString("base64url");

/**
 * A separate PostgreSQL and Redis for a test file that pauses, stops or kills them; everything else shares the run's.
 * The database is empty and unmigrated. Takes about a second, so start it once per file.
 *
 * @example
 * const servers = await ownServers();
 * afterAll(() => servers.stop());
 */
export async function ownServers(): Promise<Servers> {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-test-"));
  // mkdtemp lets only us in; as root, PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const redis = await startRedis({ dir: join(folder, "redis"), password });
    const postgres = await startPostgres({ dataDir: join(folder, "postgres"), password, settings }).catch(
      async (error) => {
        await redis.stop();
        throw error;
      },
    );
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
export async function ownRedis(options: { password?: string } = {}): Promise<EmbeddedRedis> {
  return startRedis(options);
}
