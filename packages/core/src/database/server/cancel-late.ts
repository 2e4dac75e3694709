import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import type { Database } from "../connect.ts";
import type { WatchedSocket } from "../socket.ts";

/** What the driver's types leave out. `state` is that of the connection the query was sent over; null before. */
export type Sent = {
  state: { pid: number | null; socket: WatchedSocket } | null;
  /** When it was given to that connection; from our patch. */
  sentAt?: number;
  /** The text as it was sent. */
  string?: string;
  /** The error after which the driver prepared it and sent it once more. */
  retried?: unknown;
  canceller: ((query: unknown) => Promise<void>) | null;
};

/**
 * A statement waiting for a synchronous standby is already committed: cancelling it would only end the wait, leaving a
 * row that everyone sees and no other server has. So the server is asked first. Text and age are compared because the
 * connection may be on its next statement by now, and because a pooler's process ids are not the server's; half of
 * PgBouncer's are no integers even.
 */
const look = `
  SELECT wait_event IS NOT DISTINCT FROM 'SyncRep' AS replicating,
    CASE WHEN wait_event IS DISTINCT FROM 'SyncRep' THEN pg_cancel_backend(pid) END AS cancelled
  FROM pg_stat_activity
  WHERE pid = $1::bigint AND usename = current_user AND state = 'active' AND left(query, 100) = left($2, 100)
    AND clock_timestamp() - query_start > $3 * interval '1 ms'`;

const looks_ms_max = 1_000;

/** After this long without an answer to a statement that the server does not work on, there will be none. */
const answer_ms_max = 200;

/**
 * End a late statement on the server, unless it waits for a standby: then its pool connection is kept until the standby
 * has it. Otherwise a pool would leave a waiting process behind at every deadline, until the server takes no more
 * connections. Never rejects.
 */
export async function cancelLate(
  database: Database,
  { query, text, isOver }: { query: Sent; text: string; isOver: () => boolean },
): Promise<void> {
  const { timeout_ms, control } = database;
  const { state } = query;
  while (state?.pid && !isOver()) {
    // No answer proves nothing: the statement may be waiting for a standby.
    const rows = await Promise.race([
      control.unsafe<{ replicating: boolean }[]>(look, [state.pid, text, timeout_ms / 2]).catch(() => undefined),
      delay(timeout_ms, undefined, { ref: false }),
    ]);
    if (isOver()) return;
    if (rows?.length === 0) {
      // Perhaps its connection is as good as gone, and so are the others; it costs little to dial again.
      database.retire();
      break;
    }
    if (rows && !rows[0]?.replicating) return;
    if (rows) state.socket.excuse();
    await delay(Math.min(timeout_ms / 2, looks_ms_max), undefined, { ref: false });
  }
  if (isOver()) return;
  // Not sent yet; or behind a pooler, which knows what to cancel.
  // `query.cancel()` drops the promise of its own connection, and a server that is away would end the process with it.
  await query.canceller?.(query).catch(() => {});
  if (!state) return;
  const read = state.socket.bytesRead;
  await delay(answer_ms_max, undefined, { ref: false });
  // What has come is read before this.
  await turn();
  await turn();
  if (isOver() || state.socket.bytesRead !== read) return;
  state.socket.destroy(Object.assign(new Error("the database does not know of the statement"), { code: "ETIMEDOUT" }));
}

/**
 * A transaction that could not begin in time says nothing of why. When the server answers over another connection, the
 * pool's lead nowhere. Never rejects.
 */
export async function retireSilent({ control, retire }: Database): Promise<void> {
  await control`SELECT 1`.then(retire, () => {});
}
