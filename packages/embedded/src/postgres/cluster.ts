import { existsSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { mustRunAs, writeAs } from "../process/as-user.ts";
import { findBinaries, type Binaries } from "./binaries.ts";
import type { DataFolder, FolderKind } from "../process/data-folder.ts";
import { passwordFile } from "./password.ts";
import { runTool } from "../process/server-process.ts";

/** A data directory, who may touch it, the programs that run it and their settings. */
export type Cluster = DataFolder & {
  readonly binaries: Binaries;
  readonly settings: Readonly<Record<string, string>>;
};

const draft = "atlasqueue.init";

export const postgresFolder: FolderKind = {
  name: "PostgreSQL data directory",
  // A directory where initdb was killed still has its draft, and holds no data yet.
  isData: (entries) => entries.includes("PG_VERSION") || entries.includes(draft),
  ours: /^atlasqueue\./,
};

/** A quarter of the memory, as PostgreSQL's manual says, from 128 MB to 1 GB: it shares the machine with an application. */
const buffers_mb = Math.round(
  Math.min(1_024, Math.max(128, Math.min(totalmem(), process.constrainedMemory() || Infinity) / 4 / 1_048_576)),
);

// fsync and synchronous_commit stay on, as PostgreSQL ships. With its 80 MB and 1 GB of WAL, a commit at thousands of jobs a
// second waits each second or two for a new segment, and each minute for a checkpoint.
const defaultSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: `${buffers_mb}MB`,
  min_wal_size: "1GB",
  max_wal_size: "4GB",
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
 * Runs initdb when there is no data yet, with a password for the superuser. It works in a draft inside the folder,
 * because only the folder's user may touch what is there, and that user nothing outside it. The result is moved up at
 * the end, PG_VERSION last: without that file the folder does not count as data, and an interrupted move is resumed.
 */
export async function initialise({ dataDir, identity, binaries, settings }: Cluster, password: string): Promise<void> {
  const place = join(dataDir, draft);
  if (existsSync(join(dataDir, "PG_VERSION"))) return;
  if (!existsSync(join(place, "done"))) {
    mustRunAs(identity, 'rm -rf -- "$1" && mkdir -- "$1"', [place]);
    writeAs(identity, join(place, "password"), `${password}\n`);
    const args = [
      ["-D", join(place, "data")],
      ["--username", "postgres", "--pwfile", join(place, "password")],
      ["--auth", "scram-sha-256"],
      // PostgreSQL's own C.UTF-8, because the operating system's is missing on some.
      ["--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"],
      ["--no-instructions"],
      settings.fsync === "off" ? ["--no-sync"] : [],
    ];
    await runTool(binaries.initdb, args.flat(), identity);
    writeAs(identity, join(place, "done"), "");
  }
  mustRunAs(identity, moveUp, [dataDir, draft, passwordFile]);
}

const moveUp = `cd -- "$1" || exit
[ ! -e "$2/password" ] || mv -f -- "$2/password" "$3" || exit
for entry in "$2"/data/*; do
  [ "$entry" = "$2/data/PG_VERSION" ] || [ ! -e "$entry" ] || mv -f -- "$entry" . || exit
done
mv -f -- "$2/data/PG_VERSION" . && rm -rf -- "$2"`;
