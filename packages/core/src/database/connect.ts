import postgres from "./driver.ts";
import { isReadOnly } from "./errors.ts";
import type { Pulse } from "./patience.ts";
import { openSocket } from "./socket.ts";

export type Sql = postgres.Sql;

/** A pool and the deadline its queries are held to. */
export type Database = {
  sql: Sql;
  timeout_ms: number;
  /** One connection of its own beside the pool, opened when a late statement must be looked for. */
  control: Sql;
  /** Shared by all that use the pool, with whatever deadlines. */
  pulse: Pulse;
  connections(): Connections;
  /**
   * Call `hear` each time a connection that was in use ends by anything but our own will: the server crashed, stopped or
   * ended it, or the network did. Call what it returns to listen no more.
   */
  onBreak(hear: () => void): () => void;
  close(): Promise<void>;
};

/**
 * The pool's connections: `open` ones (or about to be), the `busy` among them that have a statement or a transaction under
 * way, how many may be open at most, and how many statements wait as no connection is free.
 */
export type Connections = { open: number; busy: number; max: number; waiting: number };

export type DatabaseOptions = {
  /** May name several hosts, separated by commas: the one that takes writes is used. */
  url: string;
  /** Connections at most. */
  connections_max: number;
  /** A query that was sent and has not answered by then is cancelled and counts as "database away". */
  timeout_ms: number;
  /** Off for poolers that cannot keep them; PgBouncer 1.21 and newer can. */
  prepared_statements?: boolean;
  /** How long a connection stays open unused: a server has few, and all processes share them. Default 20. */
  idle_seconds?: number;
  /** Shown in pg_stat_activity. */
  application_name?: string;
};

/** What our patch lets the driver say of its pool. */
type Loaded = { load(): { idle: number; busy: number; waiting: number } };

/** After so long without a word a connection is asked whether it is still there. */
const keep_alive_seconds = 10;

/**
 * Open a pool. Nothing is sent before the first query; a database that is away makes queries fail, not this call. A
 * connection that failed once, or says that it takes no writes, is thrown away whole, and the next query dials again.
 *
 * @example
 * const database = connectDatabase({ url, connections_max: 10, timeout_ms: 10_000 });
 * await database.close();
 */
export function connectDatabase(options: DatabaseOptions): Database {
  const silence_ms_max = options.timeout_ms * 2;
  const listeners = new Set<() => void>();
  const settings = {
    prepare: options.prepared_statements ?? true,
    connect_timeout: Math.max(1, Math.ceil(options.timeout_ms / 1_000)),
    // Its default grows to 20 s, and would outlast the database's absence by as much.
    backoff: (tries: number) => Math.min(0.025 * 2 ** tries, 0.5),
    idle_timeout: options.idle_seconds ?? 20,
    keep_alive: keep_alive_seconds,
    // One question at a time on each connection: another would wait behind a slow one, be cut with it, and be what a
    // cancellation hits that comes late.
    max_pipeline: 0,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: options.application_name ?? "atlasqueue" },
    // Of several hosts, one that takes writes; a single one is used as it is, so that at least reads are answered.
    ...(namesSeveralHosts(options.url) && { target_session_attrs: "read-write" }),
    // What follows is our patch's, in patches/.
    discard: isReadOnly,
    onclose: (_id: number, broke?: boolean) => {
      if (broke) for (const hear of listeners) hear();
    },
    socket: (driver: { path?: string | false }, host: string, port: number) =>
      openSocket({ host, port, path: driver.path ?? false }, silence_ms_max),
  };
  const open = (max: number): Sql =>
    postgres(options.url, { ...settings, max } as postgres.Options<Record<string, never>>);
  const [sql, control] = [open(options.connections_max), open(1)];
  return {
    sql,
    control,
    timeout_ms: options.timeout_ms,
    pulse: { answered_at: -Infinity },
    connections() {
      const { idle, busy, waiting } = (sql as unknown as Loaded).load();
      return { open: idle + busy, busy, max: options.connections_max, waiting };
    },
    onBreak(hear) {
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
    close: async () => void (await Promise.all([sql.end({ timeout: 2 }), control.end({ timeout: 2 })])),
  };
}

function namesSeveralHosts(url: string): boolean {
  return /^[^/]*\/\/[^/?]*,/.test(url) && !url.includes("target_session_attrs=");
}
