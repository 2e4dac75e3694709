import { spawn, type ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";
import { SettingError, type Logger, type Signal } from "@atlasqueue/core";
import { hostSignal, openChannel } from "@atlasqueue/core/internal";
import { onHang, type HangWatch } from "./hang-watch.ts";
import { fromMember, type FromMember, type ToMember } from "./member-messages.ts";

export type FleetConfig = {
  processes: number;
  /** The program each process runs, with a channel to this one. */
  file: string;
  /** The whole environment of the process with that number. */
  env: (number: number) => NodeJS.ProcessEnv;
  /** A process that exits with 0 has done everything there was to do, and is not restarted. */
  ends?: boolean;
  /** Lent to the processes, for signals in this one's memory. */
  signal?: Signal | undefined;
  /** How long a process may take to drain; after that it is killed, as a handler must be blocking its event loop. */
  stop_ms_max: number;
  /** A started process that is silent for this long is killed: a handler blocks its event loop. Undefined: never. */
  hang_ms?: number | undefined;
  logger: Logger;
};
export type Fleet = {
  /**
   * Resolves when the first process of each number is working. Rejects with what a person can fix when one says that it
   * cannot start, or ends before it has.
   */
  started: Promise<{ metrics_urls: string[] }>;
  /** Let them write their logs. */
  speak(): void;
  /** Resolves with 0 when every process has ended by itself. */
  finished: Promise<number>;
  /** Have every process drain, and wait for it. Resolves with the worst exit code. */
  stop(): Promise<number>;
};

const restart_ms_min = 250;
const restart_ms_max = 10_000;
/** A process that lived this long is restarted at once when it dies. */
const healthy_ms_min = 30_000;

/**
 * Keeps a number of worker processes running: one that dies is restarted, after a rest that doubles while it keeps
 * dying. Its jobs are recovered like those of any vanished worker.
 *
 * @example
 * const fleet = startFleet({ processes: 4, file: "member-main.ts", env: () => ({}), stop_ms_max: 30_000, logger });
 */
export function startFleet(config: FleetConfig): Fleet {
  const { processes, file, env, ends = false, signal, stop_ms_max, hang_ms, logger } = config;
  let stopping = false;
  let speaking = false;
  let ended_count = 0;
  const { promise: finished, resolve: finish } = Promise.withResolvers<number>();
  const members = Array.from({ length: processes }, (_, number) => keepRunning(number));

  function keepRunning(number: number) {
    const first = Promise.withResolvers<string>();
    first.promise.catch(() => {});
    let member: Member | undefined;
    let rest_ms = restart_ms_min;
    let resting: NodeJS.Timeout | undefined;
    let ready = false;
    let watch: HangWatch | undefined;

    const hear = (message: FromMember) => {
      watch?.heard();
      if (message.member === "beat") return;
      if (message.member === "started") {
        ready = true;
        watch ??= watchForHang();
        first.resolve(message.metrics_url);
      } else if (ready) {
        logger.error({ event: "process_failed", number, error: message.message }, "process_failed");
      } else first.reject(troubleOf(message));
    };
    /** From "started" on: loading may take its time. */
    const watchForHang = () => {
      const { pid, kill } = member ?? {};
      return onHang(hang_ms, () => {
        logger.error({ event: "process_hung", number, pid, silent_ms: hang_ms }, "process_hung");
        kill?.();
      });
    };
    const start = () => {
      const started = performance.now();
      member = openMember(file, env(number), { hear, signal });
      logger.info({ event: "process_started", number, pid: member.pid }, "process_started");
      if (speaking) member.send({ fleet: "speak" });
      void member.ended.then(end(started));
    };
    const end =
      (started: number) =>
      ({ code, by, error }: Ended): void => {
        member = undefined;
        watch?.stop();
        watch = undefined;
        first.reject(error ?? new Error(`a worker process ended with ${by ?? `code ${code}`} before it had started`));
        if (stopping) return logger.info({ event: "process_stopped", number, code, signal: by }, "process_stopped");
        if (ends && code === 0) {
          logger.info({ event: "process_finished", number }, "process_finished");
          if ((ended_count += 1) === processes) finish(0);
          return;
        }
        rest_ms = performance.now() - started > healthy_ms_min ? restart_ms_min : Math.min(rest_ms * 2, restart_ms_max);
        logger.error({ event: "process_died", number, code, signal: by, restart_in_ms: rest_ms }, "process_died");
        resting = setTimeout(start, rest_ms);
      };
    start();
    return {
      started: first.promise,
      speak: () => member?.send({ fleet: "speak" }),
      async stop(): Promise<number> {
        clearTimeout(resting);
        if (!member) return 0;
        const { ended, kill } = member;
        member.send({ fleet: "stop" });
        const late = setTimeout(kill, stop_ms_max);
        const { code, by } = await ended;
        clearTimeout(late);
        // Ended by SIGTERM itself: it was still starting, and held no job.
        return code ?? (by === "SIGTERM" ? 0 : 1);
      },
    };
  }

  return {
    started: Promise.all(members.map((member) => member.started)).then((metrics_urls) => ({ metrics_urls })),
    speak() {
      speaking = true;
      for (const member of members) member.speak();
    },
    finished,
    async stop() {
      stopping = true;
      return Math.max(...(await Promise.all(members.map((member) => member.stop()))));
    },
  };
}

type Ended = { code: number | null; by: NodeJS.Signals | null; error?: Error };
type Member = { pid: number | undefined; send(message: ToMember): void; kill(): void; ended: Promise<Ended> };

function openMember(
  file: string,
  env: NodeJS.ProcessEnv,
  { hear, signal }: { hear(message: FromMember): void; signal: Signal | undefined },
): Member {
  let child: ChildProcess;
  try {
    child = spawn(process.execPath, [...process.execArgv, file], {
      env,
      stdio: ["ignore", "inherit", "inherit", "pipe"],
    });
  } catch (error) {
    // When memory or processes run out, some failures are thrown at once instead of emitted.
    return neverStarted(error instanceof Error ? error : new Error(String(error)));
  }
  // There is no pipe if the system had no room for it.
  const pipe = (child.stdio as (Duplex | null)[] | undefined)?.[3];
  const channel =
    pipe &&
    openChannel(pipe, {
      hear(heard) {
        if (host?.hear(heard)) return;
        const message = fromMember.safeParse(heard);
        if (message.success) hear(message.data);
      },
      closed: () => host?.close(),
    });
  const host = signal && channel ? hostSignal(signal, channel) : undefined;
  const ended = new Promise<Ended>((resolve) => {
    child.once("exit", (code, by) => resolve({ code, by }));
    child.once("error", (error) => {
      // It was never started, so it will not exit.
      if (child.pid === undefined) resolve({ code: 1, by: null, error });
    });
  });
  return {
    pid: child.pid,
    send: (message) => channel?.send(message),
    kill: () => void child.kill("SIGKILL"),
    ended,
  };
}

function neverStarted(error: Error): Member {
  const ended = async (): Promise<Ended> => ({ code: 1, by: null, error });
  return { pid: undefined, send: () => {}, kill: () => {}, ended: ended() };
}

/** What the process would have thrown here: the fleet's caller knows how to report it. */
function troubleOf(trouble: Extract<FromMember, { member: "trouble" }>): Error {
  const { message, setting, code, address, port, syscall } = trouble;
  return Object.assign(setting ? new SettingError(message) : new Error(message), { code, address, port, syscall });
}
