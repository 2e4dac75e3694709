import type { Cluster } from "../postgres/cluster.ts";
import { keepPassword, readPassword } from "../postgres/password.ts";
import { runTool } from "./server-process.ts";

/**
 * The superuser's password, set to the given one when the data's file with it is missing. It is set in single-user mode, so
 * nothing listens meanwhile. Call it only while holding the folder's claim.
 */
export async function secure(cluster: Cluster, wanted: string): Promise<string> {
  return readPassword(cluster) ?? setPassword(cluster, wanted);
}

/** Stored after it is set: if cut off in between, the next start sets another. */
async function setPassword(cluster: Cluster, password: string): Promise<string> {
  const { dataDir, binaries, identity } = cluster;
  const args = ["--single", "-D", dataDir, "-c", "password_encryption=scram-sha-256", "postgres"];
  const said = await runTool(binaries.postgres, args, identity, `ALTER ROLE postgres PASSWORD '${password}'\n`);
  // Single-user mode exits with success even when its statement failed.
  if (/ERROR:|FATAL:/.test(said))
    throw new Error(`could not set a password for the data in ${dataDir}: ${said.trim()}`);
  keepPassword(cluster, password);
  return password;
}
