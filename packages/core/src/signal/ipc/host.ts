import { toHost, type Call, type FromHost, type ToHost } from "./messages.ts";
import { SignalUnavailableError, type Signal, type Topic } from "../signal.ts";

export type SignalHost = {
  /** Whether a message from the other process was one for the signal. */
  hear(message: unknown): boolean;
  /** The other process is gone: its waits end. */
  close(): void;
};

/**
 * Lends this process' signal to one at the other end of a channel, which uses it through `ipcSignal`.
 *
 * @example
 * const host = hostSignal(memorySignal(), channel);
 */
export function hostSignal(signal: Signal, channel: { send(message: FromHost): void }): SignalHost {
  const waits = new Map<number, AbortController>();
  const listening = new Map<Topic, () => void>();
  const say = (message: FromHost) => channel.send(message);

  const answer = async (id: number, call: Call): Promise<void> => {
    const wait = call.method === "wait" ? new AbortController() : undefined;
    if (wait) waits.set(id, wait);
    try {
      const value = await perform(signal, call, wait?.signal);
      say({ signal: "answer", id, value: value ?? undefined });
    } catch (error) {
      // A failure here is our bug, and its stack belongs to this process; over there the signal is just away.
      if (!(error instanceof SignalUnavailableError))
        process.emitWarning(error instanceof Error ? error : String(error));
      say({ signal: "failed", id, reason: error instanceof Error ? error.message : String(error) });
    } finally {
      waits.delete(id);
    }
  };

  const act = (message: ToHost): void => {
    switch (message.signal) {
      case "call":
        return void answer(message.id, message.call);
      case "stop":
        return waits.get(message.id)?.abort();
      case "listen": {
        const { topic } = message;
        if (listening.has(topic)) return;
        return void listening.set(
          topic,
          signal.notices.listen(topic, (ids) => say({ signal: "notice", topic, ids: [...ids] })),
        );
      }
      case "unlisten":
        listening.get(message.topic)?.();
        return void listening.delete(message.topic);
      default:
        message satisfies never;
    }
  };

  return {
    hear(heard) {
      const message = toHost.safeParse(heard);
      if (message.success) act(message.data);
      return message.success;
    },
    close() {
      for (const wait of waits.values()) wait.abort();
      for (const stop of listening.values()) stop();
      listening.clear();
    },
  };
}

const never = new AbortController().signal;

async function perform(signal: Signal, call: Call, stop: AbortSignal = never): Promise<unknown> {
  switch (call.method) {
    case "push":
      return signal.push(...call.given);
    case "pushFront":
      return signal.pushFront(...call.given);
    case "setMarked":
      return signal.setMarked(...call.given);
    case "take":
      return signal.take(...call.given);
    case "wait":
      return signal.wait(...call.given, stop);
    case "look":
      return signal.look(...call.given);
    case "peek":
      return signal.peek(...call.given);
    case "skipTo":
      return signal.skipTo(...call.given);
    case "endOverflow":
      return signal.endOverflow(...call.given);
    case "takeTurn":
      return signal.takeTurn(...call.given);
    case "mark":
      return signal.mark(...call.given);
    case "isMarked":
      return signal.isMarked(...call.given);
    case "takePermits":
      return signal.takePermits(...call.given);
    case "deadLetters.add":
      return signal.deadLetters.add(...call.given);
    case "deadLetters.remove":
      return signal.deadLetters.remove(...call.given);
    case "deadLetters.page":
      return signal.deadLetters.page(...call.given);
    case "deadLetters.look":
      return signal.deadLetters.look();
    case "deadLetters.carryOn": {
      const [ids, from, to] = call.given;
      return signal.deadLetters.carryOn(ids, from ?? undefined, to);
    }
    case "deadLetters.clear":
      return signal.deadLetters.clear();
    case "notices.tell":
      return signal.notices.tell(...call.given);
    case "presence.announce":
      return signal.presence.announce(...call.given);
    case "presence.withdraw":
      return signal.presence.withdraw(...call.given);
    case "presence.list":
      return signal.presence.list(...call.given);
    case "check":
      return signal.check();
    default:
      return call satisfies never;
  }
}
