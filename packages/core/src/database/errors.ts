import { NoRoomError } from "../shares.ts";

/** A query or transaction did not answer in time; it was `not_applied`, or whether it took effect is `unknown`. */
export class DatabaseTimeoutError extends Error {
  override readonly name = "DatabaseTimeoutError";
  readonly outcome: "not_applied" | "unknown";
  /** It was never sent, as all connections were taken, and others were answered meanwhile: the database is not away. */
  readonly is_busy: boolean;

  constructor(timeoutMs: number, outcome: "not_applied" | "unknown" | "busy" = "unknown") {
    super(outcome === "busy" ? "no connection became free in time" : `the database did not answer in ${timeoutMs} ms`);
    this.outcome = outcome === "unknown" ? outcome : "not_applied";
    this.is_busy = outcome === "busy";
  }
}

/** Nothing was sent, as what was asked for has its bounds, or all connections were taken: the database may be well. */
export const hadNoRoom = (error: unknown): error is NoRoomError | DatabaseTimeoutError =>
  error instanceof NoRoomError || (error instanceof DatabaseTimeoutError && error.is_busy);

/** The caller hung up before it was the turn of its statement, which was not sent. */
export class CallerGoneError extends Error {
  override readonly name = "CallerGoneError";
  constructor() {
    super("the caller hung up before its turn");
    certainlyNotApplied(this);
  }
}

const notApplied = new WeakSet<object>();

/** Marks an error whose operation cannot have taken effect: it was never sent, or never committed. */
export function certainlyNotApplied(error: unknown): unknown {
  if (typeof error === "object" && error !== null) notApplied.add(error);
  return error;
}

const partlyApplied = new WeakSet<object>();

/** Marks an error that came after a part was committed. */
export function afterAPart(error: unknown): unknown {
  if (typeof error === "object" && error !== null) partlyApplied.add(error);
  return error;
}

/**
 * For what follows on something that is `done`, whatever becomes of the rest: its error says so.
 *
 * @example
 * const counts = await countJobs(deps, tenant).catch(afterSome(true));
 */
export const afterSome =
  (done: boolean) =>
  (error: unknown): never => {
    throw done ? afterAPart(error) : error;
  };

/** Whether it is known that a part was done. */
export const cameAfterAPart = (error: object): boolean => partlyApplied.has(error);

/**
 * True when what failed with this error may still have taken effect: it was sent, perhaps committed, and the answer was
 * lost or late. False when the server refused it, or it was never sent or committed. When in doubt, true.
 *
 * @example
 * if (outcomeUnknown(error)) await releaseByToken(token);
 */
export function outcomeUnknown(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return true;
  if (partlyApplied.has(error)) return true;
  if (notApplied.has(error)) return false;
  if (error instanceof DatabaseTimeoutError) return error.outcome === "unknown";
  // A server that ends the connection (FATAL) may do so after the commit.
  return (error as { severity?: unknown }).severity !== "ERROR";
}

/** True when the server itself refused a statement, and so is there. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && (error as Error & { severity?: unknown }).severity === "ERROR";
}

/**
 * True for errors that are not about the data: the server is away, starting, stopping, out of room, or late, does not let
 * us in, or a deadlock or a failover broke the transaction. The same call may succeed later.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseTimeoutError || error instanceof NoRoomError) return true;
  const code = codeOf(error);
  if (code === undefined) return false;
  if (/^(CONNECTION_|CONNECT_TIMEOUT$)/.test(code) || networkCodes.has(code) || isTlsFault(error)) return true;
  // The server ended the connection, or never accepted it: a changed password, a database being restored.
  const { severity, syscall } = error as { severity?: unknown; syscall?: unknown };
  if (severity === "FATAL" || severity === "PANIC") return true;
  // Nothing is listening under that path, or this process has no file or port left for another connection.
  if (syscall === "connect") return true;
  // 08 connection, 53 resources, 57 operator intervention (57014: our own cancel), 58 I/O, 25006 read-only standby,
  // 40001 and 40P01 serialisation and deadlock, 55P03 lock not available, 01000 the warning that the wait for a
  // synchronous standby was cancelled, which the driver turns into an error.
  return /^(08|53|57|58|25006|40001|40P01|55P03)/.test(code) || isStatementLost(error) || code === "01000";
}

const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETRESET",
  "ENETUNREACH",
  "ENOTCONN",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "EPROTO",
  "ETIMEDOUT",
]);

/** A key was taken, or a job was locked, again and again between our looks and our statements. Some of a call's jobs may be stored. */
export class KeysContendedError extends Error {
  override readonly name = "KeysContendedError";
  /** As PostgreSQL says it of a lock that cannot be had at once. */
  readonly code = "55P03";
  constructor() {
    super("others held the same keys or jobs at the same time, again and again; try again");
  }
}

/** Another transaction has a job locked, and nothing was done about it; `others_done`: a part of the call was. */
export const lockedError = (others_done = false): unknown =>
  (others_done ? afterAPart : certainlyNotApplied)(new KeysContendedError());

/**
 * True when a pooler sent a prepared statement to a connection that does not know it, or knows it already. The statement
 * did nothing.
 */
export function isStatementLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === "26000" || code === "42P05";
}

/** True when no connection came about for the sake of TLS: a certificate, or that there is none. */
export function isTlsFault(error: unknown): boolean {
  return /^(ERR_SSL_|ERR_TLS_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/.test(codeOf(error) ?? "");
}

/**
 * True when the server refuses the login, a parameter or the database, or does not show that it is ours: waiting seldom
 * helps a program that starts.
 */
export function isShutOut(error: unknown): boolean {
  const fatal = (error as { severity?: unknown } | undefined)?.severity === "FATAL";
  return (fatal && /^(0A|22|28|3D|42)/.test(codeOf(error) ?? "")) || isTlsFault(error);
}

/** True when the server takes no writes: a standby, or a primary that was demoted or set read-only. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === "25006";
}

/** True when the statement gave up waiting for a row or key that another transaction holds. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

/** The database is away, as far as this process knows: not somebody's lock, nor too much to do at once. */
export const isOutage = (error: unknown): boolean => isUnavailable(error) && !isLocked(error) && !hadNoRoom(error);

/** True when PostgreSQL could not read or write a file: of one table, perhaps, or one block of it. */
export function isFileFault(error: unknown): boolean {
  return codeOf(error)?.startsWith("58") ?? false;
}

/** True when PostgreSQL refused a value of a row (class 22) or a constraint did (class 23). */
export function isBadRow(error: unknown): boolean {
  return /^(22|23)/.test(codeOf(error) ?? "");
}

export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}
