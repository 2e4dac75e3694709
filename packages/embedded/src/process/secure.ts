import { join } from "node:path";
import { readPlain, writeAs } from "./as-user.ts";
import type { Cluster } from "../postgres/cluster.ts";
import { keepPassword, readPassword } from "../postgres/password.ts";
import { runTool } from "./server-process.ts";

/**
 * The superuser's password, set to the given one when the data has none: data folders from earlier versions let every
 * local user in. It is set in single-user mode, so nothing listens meanwhile. Call it only while holding the folder's
 * claim.
 */
export async function secure(cluster: Cluster, wanted: string): Promise<string> {
  const password = readPassword(cluster) ?? (await setPassword(cluster, wanted));
  const file = join(cluster.dataDir, "pg_hba.conf");
  const rules = readPlain(file) ?? "";
  const checked = withoutTrust(rules);
  if (checked !== rules) writeAs(cluster.identity, file, checked);
  return password;
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

/** The same rules, but each that asked for nothing now asks for a password. */
function withoutTrust(rules: string): string {
  return rules.replaceAll(/^([ \t]*(?:local|host\w*)[ \t].*?[ \t])trust(?=[ \t]*(?:#.*)?$)/gm, "$1scram-sha-256");
}
