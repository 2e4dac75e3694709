import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import cluster from "node:cluster";

/** Starts a process with these arguments and this environment. Our channel to it is its descriptor 3. */
export type Launch = (args: readonly string[], env: NodeJS.ProcessEnv) => ChildProcess;

/** The argument of a process that exchanges hints with its fleet. */
export const sharedSignal = "shared-signal";

const stdio = ["ignore", "inherit", "inherit", "pipe"] as const;

/** Processes that have nothing in common. Code they run may send what it likes: Node's IPC is not open to it. */
export function apart(file: string): Launch {
  return (args, env) => spawn(process.execPath, [...process.execArgv, file, ...args], { env, stdio: [...stdio] });
}

/**
 * Processes that listen on the same ports (node:cluster): this process accepts, and hands connections to them in turn,
 * passing over one whose event loop is stuck. They get this process' environment with `env` on top. For code of our own
 * only, as Node's IPC trusts what it is sent.
 */
export function sharingPorts(file: string): Launch {
  return (args, env) => {
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ exec: file, args: [...args], stdio: [...stdio, "ipc"] satisfies StdioOptions as never });
    const worker = cluster.fork(env);
    closeWhatItNeverTook(worker.process);
    // One that could not be handed a connection gets no other: it drains, and another takes its place.
    worker.on("error", () => worker.process.kill());
    return worker.process;
  };
}

/** In a process so started: it decides itself what to do when the one that started it is gone. */
export function outliveParent(): void {
  // node:cluster would otherwise exit at once, with requests in flight.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
}

type Handle = { close(): void };

/**
 * node:cluster forgets the connection it was handing to a process that ends before taking it: the caller would wait for
 * ever. One is offered at a time. One that was taken is closed here already, and one that was refused is offered to others.
 */
export function closeWhatItNeverTook(child: ChildProcess): void {
  let offered: Handle | undefined;
  const send = child.send.bind(child) as (...given: unknown[]) => boolean;
  child.send = (...given: unknown[]) => {
    const [, handle] = given;
    if (typeof handle === "object" && handle !== null && "close" in handle) offered = handle as Handle;
    return send(...given);
  };
  // Before node:cluster hears of it, which offers the next one at once.
  child.prependListener("internalMessage" as "message", (message: unknown) => {
    if (typeof message === "object" && message !== null && "accepted" in message) offered = undefined;
  });
  child.once("exit", () => offered?.close());
}
