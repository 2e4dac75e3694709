import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { initialise, openCluster, postgresFolder, type Cluster } from "./cluster.ts";
import { placeFolder } from "../process/data-folder.ts";
import { choosePort, freePort, portInUse } from "../process/free-port.ts";
import { stopOrphan } from "../process/orphan.ts";
import { claim } from "../process/owner.ts";
import { keepUrl, newPassword, passwordFile, urlFile } from "./password.ts";
import postgres from "./driver.ts";
import { launch, stopSteps } from "./postmaster.ts";
import { secure } from "../process/secure.ts";
import { serverHandle, type ServerHandle, type ServerNews } from "../process/server-handle.ts";
import { stopServer, type ServerProcess } from "../process/server-process.ts";

export type PostgresOptions = {
  /** Where the data lives; created when missing. Not a mount point itself, but a folder inside one. */
  readonly dataDir: string;
  /** Default: a free port, a different one on every start. */
  readonly port?: number | undefined;
  /** For data that has none yet: 20 to 200 characters of `A-Za-z0-9_-`. Default: random. */
  readonly password?: string | undefined;
  /** PostgreSQL settings, passed as `-c name=value`; they win over ours. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Called with each line the server prints. */
  readonly log?: ((line: string) => void) | undefined;
  /** With it, a server that ends without being stopped is started again on its port: called as it ends and starts. */
  readonly onEnd?: ((news: ServerNews) => void) | undefined;
};

/** Stops with a fast shutdown, then an immediate one after 10 s; restarts on the same port, with the same data. */
export type EmbeddedPostgres = ServerHandle & {
  /** For the database `atlasqueue`, as the superuser `postgres`, with its password; it listens on 127.0.0.1 only. */
  readonly url: string;
  /** Holds that URL for the same user's other programs: no one else may read it. */
  readonly urlFile: string;
  readonly port: number;
  /** Where the data really is: elsewhere than asked when we are root and PostgreSQL's user can't get there. */
  readonly dataDir: string;
};

const database = "atlasqueue";
const ports_max = 5;
const still_stopping_ms_max = 10_000;

/**
 * Starts a real PostgreSQL on a data directory, in a few seconds the first time and well under one after that. It takes
 * over what a killed process left running. Throws "port 5432 is in use", "… is in use by process 123" when a living
 * process has the data, and with PostgreSQL's own words when it can't start.
 *
 * @example
 * const server = await startPostgres({ dataDir: ".atlasqueue/postgres" });
 * const sql = connect(server.url);
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const folder = placeFolder(options.dataDir, postgresFolder);
  const claimData = () => claim(folder, `the data in ${folder.dataDir}`);
  const release = claimData();
  try {
    const cluster = await openCluster(folder, options.settings ?? {});
    await stopOrphan(cluster);
    // Asked before initdb, which takes a second, and after the orphan, which may hold that very port.
    const firstPort = await choosePort(options.port);
    const wanted = options.password ?? newPassword();
    await initialise(cluster, wanted);
    const password = await secure(cluster, wanted);
    const { server: first, port } = await start(cluster, firstPort, options);
    const url = (name: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${name}`;
    await createDatabase(url("postgres")).catch(async (error: unknown) => {
      await stopServer(first, stopSteps);
      throw isWrongPassword(error) ? notItsPassword(cluster, error) : error;
    });
    keepUrl(folder, url(database));
    const again = async () => (await start(cluster, port, { ...options, port })).server;
    const handle = serverHandle({ first, stopSteps, start: again, claim: claimData, release, onEnd: options.onEnd });
    return Object.assign(handle, {
      url: url(database),
      urlFile: join(folder.dataDir, urlFile),
      port,
      dataDir: folder.dataDir,
    });
  } catch (error) {
    release();
    throw error;
  }
}

type Started = { readonly server: ServerProcess; readonly port: number };

/** Tries again on another port when ours was taken between the look and the bind, unless it was asked for. */
async function start(cluster: Cluster, firstPort: number, options: PostgresOptions): Promise<Started> {
  const deadline = performance.now() + still_stopping_ms_max;
  let port = firstPort;
  let ports = 1;
  for (;;) {
    const outcome = await launch(cluster, port, options.log);
    switch (outcome.kind) {
      case "ready":
        return { server: outcome.server, port };
      case "port_in_use":
        if (options.port !== undefined || ports++ === ports_max) throw portInUse(port);
        port = await freePort();
        break;
      case "still_stopping":
        if (performance.now() > deadline) throw cannotStart(cluster, outcome.reason);
        await delay(50);
        break;
      case "failed":
        throw cannotStart(cluster, outcome.reason);
      default:
        outcome satisfies never;
    }
  }
}

function cannotStart({ dataDir }: Cluster, reason: string): Error {
  return new Error(`PostgreSQL on ${dataDir} did not start: ${reason}`);
}

function isWrongPassword(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "28P01";
}

function notItsPassword({ dataDir }: Cluster, cause: unknown): Error {
  const file = join(dataDir, passwordFile);
  return new Error(`${file} holds another password than the data: remove it, and the next start sets a new one`, {
    cause,
  });
}

async function createDatabase(adminUrl: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, connect_timeout: 10 });
  try {
    const found = await sql`select from pg_database where datname = ${database}`;
    if (found.length === 0) await sql`create database ${sql(database)}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
