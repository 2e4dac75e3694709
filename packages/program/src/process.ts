import { isShutOut, isTlsFault, isUnavailable, SettingError } from "@atlasqueue/core/internal/program";

/**
 * Run a program's start. What a person can fix (a setting, a database that is away) ends the process
 * with one line on stderr and exit code 1; anything else is a bug and keeps its stack.
 *
 * @example
 * const app = await exitOnTrouble(() => start(readConfig(process.env)));
 */
export async function exitOnTrouble<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const line = troubleLine(error);
    if (line === undefined) throw error;
    process.stderr.write(`${line}\n`);
    process.exit(1);
  }
}

/** The one line that tells a person what to fix, or undefined for what only a programmer can. */
export function troubleLine(error: unknown): string | undefined {
  if (error instanceof SettingError) return error.message;
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "28P01" || code === "28000") return `the database refused the login in DATABASE_URL: ${error.message}`;
  if (code === "3D000") return `the database in DATABASE_URL does not exist: ${error.message}`;
  if (code === "42501") return `the role in DATABASE_URL lacks a right: ${error.message}`;
  if (code === "25006") return `the database in DATABASE_URL takes no writes: ${error.message}`;
  if (code === "CONNECTION_NOT_READ-WRITE")
    return "none of the hosts in DATABASE_URL takes writes: standbys, old primaries, or a setting of theirs";
  if (isTlsFault(error)) return `DATABASE_URL: no TLS connection to the database: ${error.message}`;
  if (isShutOut(error)) return `the database refuses what DATABASE_URL asks for: ${error.message}`;
  if (isUnavailable(error)) return `the database in DATABASE_URL cannot be reached: ${error.message || code}`;
  return undefined;
}

/**
 * A failure to listen, as a `SettingError` that names the variable to change; other errors unchanged.
 *
 * @example
 * await startServer(app, listen).catch((error: unknown) => { throw listenError(error, "API", listen); });
 */
export function listenError(error: unknown, prefix: "API" | "WORKER_METRICS", { host, port }: Listening): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const where = `${host}:${port}`;
  if (code === "EADDRINUSE")
    return new SettingError(`${where} is in use; stop what listens there, or set ${prefix}_PORT to another port`);
  if (code === "EACCES")
    return new SettingError(`${where} may not be listened on; set ${prefix}_PORT to one above 1023`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new SettingError(`${prefix}_HOST must be an address of this machine; got ${JSON.stringify(host)}`);
  return error;
}

type Listening = { host: string; port: number };

/**
 * Stop on the first SIGINT, SIGTERM or SIGHUP (a closed terminal) and exit with the number it resolves to, or 0. A
 * second SIGINT or SIGTERM exits at once with 1; a SIGHUP may come on top of either and hurries nothing.
 */
export function stopOnSignals(stop: () => Promise<unknown>): void {
  let stopping = false;
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal !== "SIGHUP" && (signals += 1) > 1) process.exit(1);
    if (stopping) return;
    stopping = true;
    stop().then(
      (code) => process.exit(typeof code === "number" ? code : 0),
      (error: unknown) => {
        process.stderr.write(`stopping failed: ${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
}

export type Serving = {
  /** Finishes what is under way. May resolve with the exit code. */
  stop(): Promise<unknown>;
  /** Resolves with the exit code if it ends by itself. */
  finished?: Promise<number>;
};

/**
 * Run a program until a signal stops it, at any moment, or it has ended by itself. Stopped while it is
 * starting, `stop` is aborted, and what comes of the start is only stopped: the exit code is 0 whatever that was.
 * `orExit` reports what keeps it from starting.
 *
 * @example
 * await serveUntilStopped((stop) => startWorkers(readWorkerConfig(process.env), process.env, stop));
 */
export async function serveUntilStopped(
  start: (stop: AbortSignal) => Promise<Serving>,
  orExit: (start: () => Promise<Serving>) => Promise<Serving> = exitOnTrouble,
): Promise<void> {
  const stopping = new AbortController();
  let program: Promise<Serving | undefined> = Promise.resolve(undefined);
  stopOnSignals(async () => {
    stopping.abort();
    const serving = await program.catch(() => undefined);
    return serving?.stop();
  });
  program = start(stopping.signal);
  const { finished } = await orExit(async () => {
    try {
      return (await program) as Serving;
    } catch (error) {
      // A signal has stopped it, and it is about to exit.
      if (stopping.signal.aborted) return await new Promise<never>(() => {});
      throw error;
    }
  });
  if (finished) process.exit(await finished);
}
