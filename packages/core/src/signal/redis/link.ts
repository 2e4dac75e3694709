import { ReplyError, type Redis } from "ioredis";
import type { Observe } from "../../observe/events.ts";
import { ready, unavailable, type Available } from "./available.ts";
import { dial, dialAnew } from "./dial.ts";
import { probeKey, type SignalKeys } from "../keys.ts";
import type { ScriptedRedis } from "./commands.ts";
import { readFacts, unfitness } from "./server-facts.ts";
import { isWrongType, setAside } from "./set-aside.ts";
import { SignalUnavailableError, type SignalState } from "../signal.ts";

export type LinkOptions = { url: string; keys: SignalKeys; timeout_ms: number; observe: Observe };

export type RedisLink = {
  /** The connection for commands, all of which go through `available`. */
  commands: ScriptedRedis;
  available: Available;
  /** A second connection, to the same server: redialled when the one for commands finds a different server. */
  open(kind: "blocking" | "subscriber"): Redis;
  state(): SignalState;
  /** Rejects unless Redis answers and takes writes. */
  usable(): Promise<void>;
  /** Aborts when `usable` begins to reject. */
  troubled(): AbortSignal;
  /** Write something. Rejects unless it was answered. */
  probe(): Promise<void>;
  close(): void;
};

/** After a late command, none is tried for this long, so that callers do not all wait for the deadline in turn. */
const rest_after_failure_ms = 500;
/** How often Redis is asked whether it answers and takes writes. */
const beat_ms = 2_000;
/** After this many refused writes in a row the connections are redialled, as the name may point elsewhere by now. */
const refusals_max = 5;
/** How long to wait after finding an unusable server before looking again. */
const redial_ms = 1_000;

/**
 * The connections to one Redis, and what is known about it. A server that does not answer, refuses writes, is a replica
 * or too old is noticed within seconds even when idle, by our own write at each beat.
 *
 * @example
 * const link = redisLink({ url, keys, timeout_ms: 250, observe });
 * await link.available(() => link.commands.llen(list));
 */
export function redisLink({ url, keys, timeout_ms, observe }: LinkOptions): RedisLink {
  const commands = dial(url, { command_ms_max: timeout_ms });
  const others: { kind: "blocking" | "subscriber"; redis: Redis }[] = [];
  let resting_until = -Infinity;
  /** Why the server cannot be used: found when connecting, or by a refused write. */
  let unfit: SignalUnavailableError | undefined;
  let refusal: string | undefined;
  let refusals = 0;
  let run_id: string | undefined;
  let trouble = new AbortController();
  let redialling: NodeJS.Timeout | undefined;

  const inTrouble = () => {
    trouble.abort();
    trouble = new AbortController();
  };

  /** Before anything else is sent on a new connection. */
  const inspect = async (): Promise<void> => {
    const facts = readFacts(await commands.info().catch(() => ""));
    unfit = unfitness(facts);
    // Connections still to the previous server would go on without ever hearing from this one.
    if (run_id !== undefined && facts.run_id !== run_id) for (const { redis } of others) dialAnew(redis);
    run_id = facts.run_id ?? run_id;
    resting_until = -Infinity;
    if (unfit === undefined) return;
    inTrouble();
    clearTimeout(redialling);
    redialling = setTimeout(redial, redial_ms);
  };
  const redial = () => {
    clearTimeout(redialling);
    for (const redis of [commands, ...others.map((other) => other.redis)]) dialAnew(redis);
  };

  let inspecting: Promise<void> | undefined;
  commands.on("ready", () => {
    inspecting = inspect().finally(() => (inspecting = undefined));
    inspecting.then(() => (unfit === undefined ? probe() : undefined)).catch(() => {});
  });
  commands.on("close", inTrouble);
  // The first commands wait for the first connection as long as they would for an answer.
  let opening: Promise<void> | undefined = ready(commands, timeout_ms, new AbortController().signal)
    .then(() => inspecting)
    .catch(() => {})
    .then(() => void (opening = undefined));

  const noteRefusal = (error: Error): void => {
    const begins = refusal === undefined;
    refusal = `Redis refuses writes: ${error.message}`;
    if (begins) inTrouble();
  };

  const probe = async (): Promise<void> => {
    try {
      await commands.set(probeKey(keys), "1", "PX", 5 * beat_ms);
      refusal = undefined;
      refusals = 0;
    } catch (error) {
      // Unanswered, it ends with its connection, which the silence ends.
      if (!isReply(error)) throw error;
      noteRefusal(error);
      refusals += 1;
      if (refusals % refusals_max === 0) redial();
      throw new SignalUnavailableError(refusal, { cause: error });
    }
  };
  const beat = setInterval(() => {
    // Ended for good, but not by us: the beat ends with `close`.
    for (const redis of [commands, ...others.map((other) => other.redis)])
      if (redis.status === "end") redis.connect().catch(() => {});
    if (commands.status === "ready" && unfit === undefined && !inspecting) probe().catch(() => {});
    for (const { kind, redis } of others)
      if (kind === "subscriber" && redis.status === "ready") redis.ping().catch(() => {});
  }, beat_ms);
  beat.unref();

  const ensureUsable = (): void => {
    if (unfit !== undefined) throw unfit;
    if (commands.status !== "ready") throw new SignalUnavailableError(down);
    if (refusal !== undefined) throw new SignalUnavailableError(refusal);
  };

  const attempt = async <T>(command: () => Promise<T>, mended: number): Promise<T> => {
    try {
      return await command();
    } catch (error) {
      // An answer, if a bad one: other commands are not in danger.
      if (error instanceof SignalUnavailableError) throw error;
      if (!isReply(error)) resting_until = performance.now() + rest_after_failure_ms;
      else if (refusesWrites(error)) noteRefusal(error);
      else if (isWrongType(error) && mended < mended_max && (await mend(error))) return attempt(command, mended + 1);
      throw commands.status === "ready" ? unavailable(error) : new SignalUnavailableError(down, { cause: error });
    }
  };
  const mend = async (wrongType: Error): Promise<boolean> => {
    const moved = await setAside(commands, keys, wrongType).catch(() => []);
    for (const key of moved) observe({ event: "signal_key_set_aside", key });
    return moved.length > 0;
  };

  const available: Available = async (command) => {
    if (opening || inspecting) await (opening ?? inspecting);
    if (unfit !== undefined) throw unfit;
    if (performance.now() < resting_until) throw new SignalUnavailableError("Redis did not answer a moment ago");
    return attempt(command, 0);
  };

  return {
    commands,
    available,
    open(kind) {
      const redis = dial(url, { blocking: kind === "blocking" });
      others.push({ kind, redis });
      return redis;
    },
    state() {
      if (unfit !== undefined) return "refusing";
      if (commands.status !== "ready") return "down";
      return refusal === undefined ? "up" : "refusing";
    },
    async usable() {
      if (opening || inspecting) await (opening ?? inspecting);
      ensureUsable();
    },
    troubled: () => trouble.signal,
    probe: () => available(probe),
    close() {
      clearInterval(beat);
      clearTimeout(redialling);
      for (const redis of [commands, ...others.map((other) => other.redis)]) redis.disconnect();
    },
  };
}

const down = "there is no connection to Redis";
const isReply = (error: unknown): error is Error => error instanceof ReplyError;

/** One command may name several keys, and others sent with it still more. */
const mended_max = 4;

/** Redis 6 says so in the middle of a script's error. */
const refusesWrites = (error: Error): boolean => /\b(READONLY|OOM|MISCONF|NOREPLICAS|MASTERDOWN)\b/.test(error.message);
