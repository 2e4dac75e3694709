import type { ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";
import type { MemorySignal } from "@atlasqueue/core";
import { openChannel } from "../process-channel.ts";
import { sharedSignal, type Launch } from "./launch.ts";
import { fromMember, type FromMember, type ToMember } from "./messages.ts";

export type Ended = { code: number | null; by: NodeJS.Signals | null; error?: Error };
export type MemberProcess = ReturnType<typeof openMember>;

type MemberProcessOptions = {
  launch: Launch;
  number: number;
  env: NodeJS.ProcessEnv;
  hear(message: FromMember): void;
  /** Exchanges hints with it. */
  signal: MemorySignal | undefined;
};

/** Start a process of a fleet, and talk with it. */
export function openMember({ launch, number, env, hear, signal }: MemberProcessOptions) {
  let child: ChildProcess;
  try {
    child = launch([String(number), ...(signal ? [sharedSignal] : [])], env);
  } catch (error) {
    // When memory or processes run out, some failures are thrown at once instead of emitted.
    const ended = { code: 1, by: null, error: error instanceof Error ? error : new Error(String(error)) };
    return { pid: undefined, send: () => {}, kill: () => {}, ended: Promise.resolve(ended) };
  }
  // There is no pipe if the system had no room for it.
  const pipe = (child.stdio as (Duplex | null)[] | undefined)?.[3];
  const channel =
    pipe &&
    openChannel(pipe, {
      hear(heard) {
        if (peer?.hear(heard)) return;
        const message = fromMember.safeParse(heard);
        if (message.success) hear(message.data);
      },
      closed: () => peer?.leave(),
    });
  const peer = channel && signal?.join((hint) => channel.offer(hint));
  const ended = new Promise<Ended>((resolve) => {
    child.once("exit", (code, by) => resolve({ code, by }));
    child.once("error", (error) => {
      // It was never started, so it will not exit.
      if (child.pid === undefined) resolve({ code: 1, by: null, error });
    });
  });
  return {
    pid: child.pid,
    send: (message: ToMember): void => channel?.send(message),
    kill: () => void child.kill("SIGKILL"),
    /** Resolves when the process is gone, or never came into being. */
    ended,
  };
}
