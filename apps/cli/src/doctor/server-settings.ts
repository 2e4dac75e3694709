import type { Deps } from "@atlasqueue/core/internal";
import { serverSettings } from "@atlasqueue/core/internal/tools";
import { ok, wrong, type Check } from "./check.ts";

/** If one of these is off, a crash loses jobs or tables grow without end. */
const must_be_on = ["autovacuum", "full_page_writes", "synchronous_commit"];

const mb = 1_048_576;
/** Below these, a busy queue waits for the disk: see the guide's page on PostgreSQL. */
const advised: Readonly<Record<string, number>> = {
  shared_buffers: 256 * mb,
  min_wal_size: 1_024 * mb,
  max_wal_size: 4_096 * mb,
};

/**
 * Checks the server's settings for durability and speed. Small sizes are reported, and the check still passes. So is
 * `fsync`, which servers for tests turn off.
 */
export async function checkSettings(deps: Deps): Promise<Check> {
  const names = ["fsync", ...must_be_on, ...Object.keys(advised)];
  const rows = await serverSettings(deps, names);
  const off = rows.filter(({ name, setting }) => must_be_on.includes(name) && setting === "off");
  if (off.length > 0) return wrong("settings", `${off.map(({ name }) => name).join(" and ")}: off; set it to on`);
  const small = rows.flatMap(({ name, bytes }) => {
    const least = advised[name];
    return least !== undefined && bytes !== null && bytes < least
      ? [`${name} is ${bytes / mb} MB (${least / mb} MB or more)`]
      : [];
  });
  const unsafe = rows.some(({ name, setting }) => name === "fsync" && setting === "off");
  const loss = unsafe ? "fsync is off, so a crash of the machine loses jobs; " : "";
  if (small.length === 0)
    return ok("settings", `${loss}buffers and WAL are large enough for thousands of jobs a second`);
  return ok("settings", `${loss}for thousands of jobs a second, raise: ${small.join(", ")}`);
}
