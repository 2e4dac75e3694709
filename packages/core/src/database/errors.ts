/** A query did not answer in time. Whether it took effect is unknown. */
export class DatabaseTimeoutError extends Error {
  override readonly name = "DatabaseTimeoutError";
  constructor(timeout_ms: number) {
    super(`the database did not answer in ${timeout_ms} ms`);
  }
}

/**
 * True for errors that say nothing about the data: the server is away, starting, stopping, out of room, or late, or a
 * deadlock or a failover broke the transaction. The same call may succeed later.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseTimeoutError) return true;
  const code = codeOf(error);
  if (code === undefined) return false;
  if (code.startsWith("CONNECTION_") || code === "CONNECT_TIMEOUT" || networkCodes.has(code)) return true;
  // 08 connection, 53 resources, 57 operator intervention (57014: our own cancel), 58 I/O, 25006 read-only standby,
  // 40001 and 40P01 serialisation and deadlock, 55P03 lock not available, 26000 a statement that a pooler lost.
  return /^(08|53|57|58|25006|40001|40P01|55P03)/.test(code) || code === "26000";
}

const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
]);

/**
 * Whether a statement that failed may have taken effect all the same. Not when the server itself refused it, which rolls
 * it back, and not when no connection to the server was made.
 */
export function mayHaveCommitted(error: unknown): boolean {
  const { severity } = error as { severity?: unknown };
  return severity !== "ERROR" && !neverSent.has(codeOf(error) ?? "");
}

const neverSent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "CONNECT_TIMEOUT"]);

/** True when the statement gave up waiting for a row or key that another transaction holds. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

/** True when PostgreSQL refused a value of a row (class 22) or a constraint did (class 23). */
export function isBadRow(error: unknown): boolean {
  return /^(22|23)/.test(codeOf(error) ?? "");
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}
