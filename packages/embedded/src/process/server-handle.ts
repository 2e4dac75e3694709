import { killServer, stopServer, type ServerProcess, type StopStep } from "./server-process.ts";

/** What either server can be told to do. */
export type ServerHandle = {
  readonly pid: number;
  /** Shuts it down and resolves when it is gone; may be called twice. */
  stop(): Promise<void>;
  /** Stops it unless it is already gone, then starts it on the same port. */
  restart(): Promise<void>;
  /** Sends a signal. SIGKILL and SIGQUIT resolve when the server is gone, others as soon as they are sent. */
  kill(signal: NodeJS.Signals): Promise<void>;
};

type Server = {
  readonly first: ServerProcess;
  readonly stopSteps: readonly StopStep[];
  start(): Promise<ServerProcess>;
  /** Claims its folder again after a stop gave it up; returns a function that gives it up. */
  claim(): () => void;
  readonly release: () => void;
};

/** Stops and restarts happen one after another: a stop during a restart must end what the restart started. */
export function serverHandle({ first, stopSteps, start, claim, release }: Server): ServerHandle {
  let server = first;
  let claimed: (() => void) | undefined = release;
  let turn = Promise.resolve();
  const inTurn = (act: () => Promise<void>) => {
    const done = turn.then(act);
    turn = done.catch(() => {});
    return done;
  };
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
      }),
    kill: (signal) => killServer(server, signal),
  };
}
