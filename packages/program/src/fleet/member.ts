import { setTimeout as delay } from "node:timers/promises";
import { memorySignal, type Signal } from "@atlasqueue/core";
import { logDestination } from "@atlasqueue/core/internal";
import { parentChannel } from "../process-channel.ts";
import { exitOnTrouble, troubleLine } from "../process.ts";
import { beatMs } from "./hang-watch.ts";
import { heldLog } from "./held-log.ts";
import { outliveParent, sharedSignal } from "./launch.ts";
import { isToMember, type FromMember } from "./messages.ts";
import { createQuestions } from "./questions.ts";

/** What is still starting then is waited for no longer: it has no job, and a module may never be loaded to its end. */
const start_ms_max = 5_000;

/** Longer than the fleet waits for the answer of each process. */
const gather_ms_max = 4_000;

/** What a process of a fleet is given. */
export type MemberParts = {
  /** From 0 on; its successor has the same. */
  number: number;
  /** Where its log goes: held back until the fleet lets it speak. */
  log: { write(line: string): void };
  /** One that exchanges wake-up marks with the fleet, if the fleet has one. */
  signal: Signal | undefined;
  /** What all processes of the fleet that are working answer to `says`, this one included; nothing without a fleet. */
  gather(): Promise<string[]>;
};

export type RunningMember = {
  /** Passed to the program that started the fleet. */
  about: unknown;
  hang_ms: number | undefined;
  stop(): Promise<void>;
  /** Called before `stop` when its parent has died: gives up the port that the next process needs. */
  orphaned?(): Promise<void>;
  /** When it resolves, everything is done: the process stops, and ends with 0. */
  finished?: Promise<void> | undefined;
  /** Its part in a `gather`. */
  says?(): Promise<string>;
};

/**
 * A process of a fleet (fleet.ts): started, woken (without Redis) and stopped over a channel. A
 * terminal or a service manager may signal the whole group; the parent decides what that means.
 *
 * @example
 * await runMember(async ({ log }) => ({ about: {}, hang_ms: undefined, stop: (await serve(log)).stop }));
 */
export async function runMember(start: (parts: MemberParts) => Promise<RunningMember>): Promise<void> {
  let stopping: Promise<void> | undefined;
  let program: Promise<RunningMember | undefined> = Promise.resolve(undefined);
  const stop = () =>
    (stopping ??= (async () => {
      const running = await Promise.race([program.catch(() => undefined), delay(start_ms_max)]);
      await running?.stop();
      process.exit(0);
    })());

  const log = heldLog(logDestination());
  const questions = createQuestions<string[]>(gather_ms_max);
  const fleet = parentChannel({
    hear(message) {
      if (peer.hear(message) || !isToMember(message)) return;
      switch (message.fleet) {
        case "speak":
          return log.release();
        case "stop":
          return void stop();
        case "ask":
          return void sayOwn(message.id);
        case "said":
          return questions.hear(message.id, message.texts);
        default:
          message satisfies never;
      }
    },
    // Its parent is gone, and nothing else would stop it.
    closed() {
      void program.then((running) => running?.orphaned?.()).catch(() => {});
      void stop();
    },
  });
  const shared = memorySignal();
  const peer = shared.join((hint) => fleet.offer(hint));
  const say = (message: FromMember) => fleet.send(message);
  const sayOwn = async (id: number): Promise<void> => {
    const running = await program.catch(() => undefined);
    say({ member: "says", id, text: (await running?.says?.()) ?? "" });
  };
  const gather = async () => (await questions.ask((id) => say({ member: "asks", id }))) ?? [];

  outliveParent();
  process.on("SIGINT", () => {}).on("SIGHUP", () => {});
  process.on("SIGTERM", () => void stop());

  await exitOnTrouble(async () => {
    try {
      const [number, ...words] = process.argv.slice(2);
      const signal = words.includes(sharedSignal) ? shared : undefined;
      program = start({ number: Number(number), log, signal, gather });
      const running = await program;
      if (!running) return;
      const { about, hang_ms, finished } = running;
      say({ member: "started", about });
      if (hang_ms !== undefined) setInterval(() => say({ member: "beat" }), beatMs(hang_ms));
      if (!finished) return;
      await finished;
      await stop();
    } catch (error) {
      log.drop();
      const line = troubleLine(error);
      if (line === undefined) throw error;
      say({ member: "trouble", line });
      await fleet.end();
      process.exit(1);
    }
  });
}
