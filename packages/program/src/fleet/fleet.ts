import type { Logger } from "pino";
import type { z } from "zod";
import type { MemorySignal } from "@atlasqueue/core";
import { SettingError } from "@atlasqueue/core/internal/program";
import { onHang, type HangWatch } from "./hang-watch.ts";
import type { Launch } from "./launch.ts";
import { openMember, type Ended, type MemberProcess } from "./member-process.ts";
import type { FromMember } from "./messages.ts";
import { createQuestions } from "./questions.ts";

export type FleetConfig<About> = {
  processes: number;
  /** How each is started, with a channel to this process: `apart(file)` or `sharingPorts(file)`. */
  launch: Launch;
  /** The whole environment of the process with that number. */
  env: (number: number) => NodeJS.ProcessEnv;
  /** What a process says about itself when it has started. */
  about: z.ZodType<About>;
  /** A process that exits with 0 has done everything there was to do, and is not restarted. */
  ends?: boolean;
  /** Called with what a process said about itself when it has ended in any other way than by exiting with 0. */
  died?: (about: About) => void;
  /** Without Redis: forwards wake-up marks between the processes. */
  signal?: MemorySignal | undefined;
  /** How long a process may take to drain; after that it is killed, as something must be blocking its event loop. */
  stop_ms_max: number;
  /** A started process that is silent for this long is killed: something blocks its event loop. Undefined: never. */
  hang_ms?: number | undefined;
  logger: Logger;
};
export type Fleet<About> = {
  /**
   * Resolves when the first process of each number is working. Rejects with what a person can fix when one says that it
   * cannot start, or ends before it has.
   */
  started: Promise<About[]>;
  /** Let them write their logs. */
  speak(): void;
  /** Resolves with 0 when every process has ended by itself. */
  finished: Promise<number>;
  /** Have every process drain, and wait for it, at any time. Resolves with the worst exit code. */
  stop(): Promise<number>;
};

const restart_ms_min = 250;
const restart_ms_max = 10_000;
/** A process that lived this long is restarted at once when it dies. */
const healthy_ms_min = 30_000;
/** Of a process, to what all are asked. */
const answer_ms_max = 2_000;
/** People may have resumed since. */
const unpaused = { PAUSED_AT_START: "false" };

/**
 * Keeps a number of processes running: one that dies is restarted, after a rest that doubles while it keeps dying.
 * See core's decisions/2026-11-21-processes.md.
 *
 * @example
 * const launch = apart("member-main.ts");
 * const fleet = startFleet({ processes: 4, launch, env: () => ({}), about: z.unknown(), stop_ms_max: 30_000, logger });
 */
export function startFleet<About>(config: FleetConfig<About>): Fleet<About> {
  const { processes, launch, env, about, ends = false, died, signal, stop_ms_max, hang_ms, logger } = config;
  let stopping: Promise<number> | undefined;
  let speaking = false;
  let ended_count = 0;
  const { promise: finished, resolve: finish } = Promise.withResolvers<number>();
  const questions = createQuestions<string>(answer_ms_max);
  /** By their numbers. */
  const working: (MemberProcess | undefined)[] = [];
  /** What all that are working say, in their order. */
  const gather = async (): Promise<string[]> => {
    const asked = working.map((each) => each && questions.ask((id) => each.send({ fleet: "ask", id })));
    return (await Promise.all(asked)).filter((text) => text !== undefined);
  };
  const members = Array.from({ length: processes }, (_, number) => keepRunning(number));

  function keepRunning(number: number) {
    const first = Promise.withResolvers<About>();
    first.promise.catch(() => {});
    let member: MemberProcess | undefined;
    let rest_ms = restart_ms_min;
    let resting: NodeJS.Timeout | undefined;
    let ready = false;
    let its_about: About | undefined;
    let watch: HangWatch | undefined;

    const begin = (said: unknown) => {
      const heard = about.safeParse(said);
      if (!heard.success) return;
      ready = true;
      // Later ones may come from code that it runs.
      its_about ??= heard.data;
      working[number] = member;
      watch ??= watchForHang();
      first.resolve(heard.data);
    };
    const hear = (message: FromMember) => {
      watch?.heard();
      switch (message.member) {
        case "beat":
          return;
        case "started":
          return begin(message.about);
        case "trouble":
          if (!ready) return first.reject(new SettingError(message.line));
          return logger.error({ event: "process_failed", number, error: message.line }, "process_failed");
        case "asks": {
          const asker = member;
          const { id } = message;
          return void gather().then((texts) => asker?.send({ fleet: "said", id, texts }));
        }
        case "says":
          return questions.hear(message.id, message.text);
        default:
          message satisfies never;
      }
    };
    /** From "started" on: loading may take its time. */
    const watchForHang = () => {
      const { pid, kill } = member ?? {};
      return onHang(hang_ms, () => {
        logger.error({ event: "process_hung", number, pid, silent_ms: hang_ms }, "process_hung");
        kill?.();
      });
    };
    const start = (again = false) => {
      const started = performance.now();
      member = openMember({ launch, number, env: again ? { ...env(number), ...unpaused } : env(number), hear, signal });
      logger.info({ event: "process_started", number, pid: member.pid }, "process_started");
      if (speaking) member.send({ fleet: "speak" });
      void member.ended.then(end(started));
    };
    const end =
      (started: number) =>
      ({ code, by, error }: Ended): void => {
        member = undefined;
        working[number] = undefined;
        watch?.stop();
        watch = undefined;
        if (its_about !== undefined) died?.(its_about);
        its_about = undefined;
        first.reject(error ?? new Error(`a process ended with ${by ?? `code ${code}`} before it had started`));
        if (stopping) return logger.info({ event: "process_stopped", number, code, signal: by }, "process_stopped");
        if (ends && code === 0) {
          logger.info({ event: "process_finished", number }, "process_finished");
          if ((ended_count += 1) === processes) finish(0);
          return;
        }
        rest_ms = performance.now() - started > healthy_ms_min ? restart_ms_min : Math.min(rest_ms * 2, restart_ms_max);
        logger.error({ event: "process_died", number, code, signal: by, restart_in_ms: rest_ms }, "process_died");
        resting = setTimeout(() => start(true), rest_ms);
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
    started: Promise.all(members.map((member) => member.started)),
    speak() {
      speaking = true;
      for (const member of members) member.speak();
    },
    finished,
    stop() {
      // Before any of them gets the message, so that none is restarted.
      stopping ??= Promise.resolve().then(async () =>
        Math.max(...(await Promise.all(members.map((member) => member.stop())))),
      );
      return stopping;
    },
  };
}

/**
 * What the processes said when all of them were working. Rejects, after stopping them, when one cannot start, or when
 * `stop` is aborted before all of them have.
 *
 * @example
 * const [first] = await whenStarted(startFleet(config), stop);
 */
export async function whenStarted<About>(fleet: Fleet<About>, stop?: AbortSignal): Promise<About[]> {
  const end = () => void fleet.stop();
  if (stop?.aborted) end();
  stop?.addEventListener("abort", end, { once: true });
  try {
    return await fleet.started;
  } catch (error) {
    await fleet.stop();
    throw error;
  } finally {
    stop?.removeEventListener("abort", end);
  }
}
