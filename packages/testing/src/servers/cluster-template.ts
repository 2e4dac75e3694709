import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { startPostgres } from "@atlasqueue/embedded";

/** The data of a PostgreSQL that isn't running, to be copied; all copies have its password. */
export type ClusterTemplate = { readonly dataDir: string; readonly password: string };

// Safe here and twice as fast: the tests kill processes, and what a killed PostgreSQL wrote is still in the system's
// cache. Only a power failure loses it. synchronous_commit stays on: switching that off would lose rows when the
// process is killed. Several servers run at once, so each has few buffers.
export const settings = { fsync: "off", synchronous_commit: "on", shared_buffers: "128MB" };

/** Once for the whole run: initdb takes two seconds of CPU, a copy of what it made a tenth of that. */
export async function makeClusterTemplate(folder: string): Promise<ClusterTemplate> {
  const password = randomBytes(24).toString("base64url");
  const postgres = await startPostgres({ dataDir: join(folder, "template"), password, settings });
  await postgres.stop();
  return { dataDir: postgres.dataDir, password };
}

/** With owners and modes: as root, PostgreSQL runs as another user. */
export async function copyCluster(from: ClusterTemplate, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", "--", from.dataDir, to]);
}
