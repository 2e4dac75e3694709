import { readFileSync } from "node:fs";
import type { ServerOptions } from "node:http";
import { withinHeap } from "@atlasqueue/core/internal/program";

/**
 * How long a client may take to send its headers, and its whole request, checked every `check_interval_ms`; and how long
 * nothing may move on a connection, such as when the client does not read a response.
 */
export type ServerTimeouts = { headers_ms: number; request_ms: number; check_interval_ms: number; stalled_ms: number };

const defaultTimeouts: ServerTimeouts = {
  headers_ms: 10_000,
  request_ms: 20_000,
  check_interval_ms: 5_000,
  // Well above half a minute, which a request may wait for a job.
  stalled_ms: 120_000,
};
/** More than there are long polls at once; each takes a file and, while headers arrive, up to forty kilobytes. */
const connections_max_default = 20_000;
/** What a connection takes while headers arrive. */
export const connection_bytes = 40_000;
/** Of a small heap they may take four tenths. */
const connections_heap = { part: 2.5, bytes_each: connection_bytes };
const header_bytes_max = 16_384;
/** Longer than common load balancers' idle timeout, so that they are the ones to hang up. */
const keep_alive_ms_default = 65_000;
/** Files that a process has open for itself: its modules, PostgreSQL, Redis, and what it serves from the disk. */
const own_files = 100;
/** Where the system does not say: the least that is usual. */
const files_default = 1_024;

/**
 * What any port of ours is bounded by: Node's options for the server, its `timeout`, and how many connections it takes. `connectionsMax` is lowered to what the heap and the files that this
 * process may open allow: without a file left, it could not reach PostgreSQL either.
 *
 * @example
 * const { options, stalled_ms, connections_max } = serverLimits();
 */
export function serverLimits({
  timeouts = {},
  keepAliveMs = keep_alive_ms_default,
  connectionsMax = connections_max_default,
  filesMax = openFilesMax(),
}: {
  timeouts?: Partial<ServerTimeouts> | undefined;
  keepAliveMs?: number | undefined;
  connectionsMax?: number | undefined;
  filesMax?: number;
} = {}) {
  const set = { ...defaultTimeouts, ...timeouts };
  const left = Math.floor(Math.max(filesMax / 4, Math.min(filesMax * 0.75, filesMax - own_files)));
  return {
    options: {
      headersTimeout: set.headers_ms,
      requestTimeout: set.request_ms,
      connectionsCheckingInterval: set.check_interval_ms,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: header_bytes_max,
    } satisfies ServerOptions,
    stalled_ms: set.stalled_ms,
    connections_max: Math.min(left, withinHeap(connectionsMax, connections_heap)),
  };
}

/** The soft limit, which Node raises to the hard one when it starts. */
function openFilesMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === "unlimited" ? Infinity : Number(soft ?? files_default);
  } catch {
    return files_default;
  }
}
