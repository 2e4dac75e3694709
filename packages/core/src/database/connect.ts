import { Socket } from "node:net";
import postgres from "postgres";

export type Sql = postgres.Sql;

/** A pool and the deadline its queries are held to. */
export type Database = {
  sql: Sql;
  timeout_ms: number;
  /** Over all its connections: grows while an answer comes in. */
  bytesRead(): number;
  /** How many connections are open, and how many may be. */
  connections(): { open: number; limit: number };
  close(): Promise<void>;
};

export type DatabaseOptions = {
  url: string;
  /** Connections at most. */
  connections_max: number;
  /** A query that has not answered by then is cancelled and counts as "database away". */
  timeout_ms: number;
  /** Off for poolers that cannot keep them; PgBouncer 1.21 and newer can. */
  prepared_statements?: boolean;
  /** Shown in pg_stat_activity. */
  application_name?: string;
};

/**
 * Open a pool. Nothing is sent before the first query; a database that is away makes queries fail, not this call.
 *
 * @example
 * const database = connectDatabase({ url, connections_max: 10, timeout_ms: 10_000 });
 * await database.close();
 */
export function connectDatabase(options: DatabaseOptions): Database {
  const sockets = new Set<Socket>();
  let bytes_of_closed = 0;
  const dial = (settings: { host: string[]; port: number[]; path?: string }): Socket => {
    const socket = openSocket(settings, options.timeout_ms * 2, () => {
      sockets.delete(socket);
      bytes_of_closed += socket.bytesRead;
    });
    sockets.add(socket);
    return socket;
  };
  const sql = postgres(options.url, {
    max: options.connections_max,
    prepare: options.prepared_statements ?? true,
    connect_timeout: Math.max(1, Math.ceil(options.timeout_ms / 1_000)),
    // Its default grows to 20 s, and would outlast the database's absence by as much.
    backoff: (tries: number) => Math.min(0.05 * 2 ** tries, 0.5),
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: options.application_name ?? "atlasqueue" },
    socket: dial,
  } as postgres.Options<Record<string, never>>);
  return {
    sql,
    timeout_ms: options.timeout_ms,
    bytesRead: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, bytes_of_closed),
    connections: () => ({ open: sockets.size, limit: options.connections_max }),
    close: () => sql.end({ timeout: 2 }),
  };
}

/**
 * A socket that closes itself when something was written and nothing came back for `silence_ms_max`. A server that is
 * stopped or cut off without a TCP reset would otherwise keep its pool slot for ever. Counted on the raw socket, as
 * the driver replaces its listeners when it starts TLS.
 */
function openSocket(
  settings: { host: string[]; port: number[]; path?: string },
  silence_ms_max: number,
  closed: () => void,
): Socket {
  const socket = new Socket();
  let read = 0;
  let written = 0;
  let heard_at = performance.now();
  const watch = setInterval(() => {
    const now = performance.now();
    if (socket.bytesRead !== read || socket.bytesWritten === written) {
      read = socket.bytesRead;
      written = socket.bytesWritten;
      heard_at = now;
    } else if (now - heard_at > silence_ms_max) {
      socket.destroy(
        Object.assign(new Error(`no answer from the database in ${silence_ms_max} ms`), { code: "ETIMEDOUT" }),
      );
    }
  }, silence_ms_max / 4);
  watch.unref();
  // "close" listeners are removed by the driver as well, so the watch ends itself with the socket.
  const destroy = socket._destroy.bind(socket);
  socket._destroy = (error, done) => {
    clearInterval(watch);
    closed();
    destroy(error, done);
  };
  socket.setNoDelay(true);
  if (settings.path) socket.connect(settings.path);
  else {
    const [host, port] = [settings.host[0] ?? "localhost", settings.port[0] ?? 5432];
    socket.connect(port, host);
    // The driver takes the TLS server name from here.
    Object.assign(socket, { host, port });
  }
  return socket;
}
