import { killServer, stopServer, type ServerProcess, type StopStep } from "./server-process.ts";

/** Commands that both servers take. */
export type ServerHandle = {
  readonly pid: number;
  /** Shuts it down and resolves when it is gone; may be called twice. */
  stop(): Promise<void>;
  /** Stops it unless it is already gone, then starts it on the same port. */
  restart(): Promise<void>;
  /** Sends a signal. SIGKILL and SIGQUIT resolve when the server is gone, others as soon as they are sent. */
  kill(signal: NodeJS.Signals): Promise<void>;
};

/** What to do with a server that ended without being stopped. */
export type ServerNews =
  | { readonly kind: "ended"; readonly said: string }
  | { readonly kind: "started" }
  | { readonly kind: "not_started"; readonly reason: string };

/** From a start to the next, and after one that failed. */
const rest_ms = 5_000;

type Server = {
  readonly first: ServerProcess;
  readonly stopSteps: readonly StopStep[];
  start(): Promise<ServerProcess>;
  /** Claims its folder again after a stop gave it up; returns a function that gives it up. */
  claim(): () => void;
  readonly release: () => void;
  /** With it, a server that ends by itself is started again: hears what becomes of it. */
  readonly onEnd?: ((news: ServerNews) => void) | undefined;
};

/** Stops and restarts happen one after another: a stop during a restart must end what the restart started. */
export function serverHandle({ first, stopSteps, start, claim, release, onEnd }: Server): ServerHandle {
  let server = first;
  let claimed: (() => void) | undefined = release;
  let turn = Promise.resolve();
  const inTurn = (act: () => Promise<void>) => {
    const done = turn.then(act);
    turn = done.catch(() => {});
    return done;
  };
  let started_at = performance.now();
  const watch = () => {
    const watched = server;
    if (onEnd) void watched.exited.then(() => inTurn(() => startAgain(watched, onEnd)));
  };
  const startAgain = async (ended: ServerProcess, tell: (news: ServerNews) => void) => {
    const isStopped = () => claimed === undefined || server !== ended;
    // Not in its turn: a stop must not wait for it.
    const tryLater = (ms: number) => void setTimeout(() => void inTurn(tryOnce), ms).unref();
    const tryOnce = async () => {
      if (isStopped()) return;
      started_at = performance.now();
      try {
        server = await start();
        tell({ kind: "started" });
        watch();
      } catch (error) {
        tell({ kind: "not_started", reason: error instanceof Error ? error.message : String(error) });
        tryLater(rest_ms);
      }
    };
    if (isStopped()) return;
    tell({ kind: "ended", said: await ended.lastWords() });
    // One that dies as soon as it runs is no better than one that does not start.
    tryLater(Math.max(0, started_at + rest_ms - performance.now()));
  };
  watch();
  return {
    get pid() {
      return server.pid;
    },
    stop: () =>
      inTurn(async () => {
        await stopServer(server, stopSteps);
        claimed?.();
        claimed = undefined;
      }),
    restart: () =>
      inTurn(async () => {
        await stopServer(server, stopSteps);
        claimed ??= claim();
        server = await start();
        watch();
      }),
    kill: (signal) => killServer(server, signal),
  };
}
