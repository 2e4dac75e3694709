import { mkdirSync, renameSync, rmSync } from "node:fs";
import { findBinaries, type Binaries } from "./binaries.ts";
import { give, holdsData, type DataFolder } from "./data-folder.ts";
import { runTool } from "./server-process.ts";

/** A data directory, who may touch it, the programs that run it and how they are set. */
export type Cluster = DataFolder & {
  readonly binaries: Binaries;
  readonly settings: Readonly<Record<string, string>>;
};

// What a durable store beside an application needs; fsync and synchronous_commit stay on, as PostgreSQL ships them.
const defaultSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "128MB",
  max_connections: "200",
  timezone: "UTC",
  log_timezone: "UTC",
};

/** Puts a data folder together with PostgreSQL's programs; `settings` win over our defaults. */
export async function openCluster(folder: DataFolder, settings: Readonly<Record<string, string>>): Promise<Cluster> {
  const binaries = await findBinaries(folder.identity);
  return { ...folder, binaries, settings: { ...defaultSettings, ...settings } };
}

/**
 * Runs initdb when there is no data yet. It works in a folder beside the data and renames it at the end: PG_VERSION is
 * among the first files initdb writes, so a directory it was killed in would look finished.
 */
export async function initialise({ dataDir, identity, binaries, settings }: Cluster): Promise<void> {
  if (holdsData(dataDir)) return;
  const draft = `${dataDir}.init`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  if (identity) give(draft, identity);
  const args = [
    ["-D", draft],
    ["--username", "postgres"],
    // Only loopback is listened on.
    ["--auth", "trust"],
    // PostgreSQL's own C.UTF-8, because the operating system's is missing on some.
    ["--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"],
    ["--no-instructions"],
    settings.fsync === "off" ? ["--no-sync"] : [],
  ];
  await runTool(binaries.initdb, args.flat(), identity);
  renameSync(draft, dataDir);
}
