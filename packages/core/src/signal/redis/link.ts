import { ReplyError } from "ioredis";
import type { RedisAddress } from "./address.ts";
import { ready, unavailable, type Available } from "./available.ts";
import { clusterServers } from "./cluster.ts";
import { clusterKeys } from "./cluster-keys.ts";
import type { ScriptedRedis } from "./commands.ts";
import type { RedisTls } from "./dial.ts";
import type { SignalKeys } from "../keys.ts";
import { oneServer } from "./one-server.ts";
import { readFacts, unfitness } from "./server-facts.ts";
import type { Servers } from "./servers.ts";
import { SignalUnavailableError, type SignalState } from "../signal.ts";

export type LinkOptions = {
  to: RedisAddress;
  tls?: RedisTls | undefined;
  keys: SignalKeys;
  timeout_ms: number;
};

export type RedisLink = {
  /** The names to use there. */
  keys: SignalKeys;
  /** The connection for commands, all of which go through `available`. */
  commands: ScriptedRedis;
  available: Available;
  /** Keys with the same answer may be named by one command. */
  slotOf(key: string): number;
  /**
   * A connection of its own to the server that has a key: it follows the key, or the name, to another server. `ask` sends
   * something over it at each beat, whose answer shows that it is alive.
   */
  open: Servers["open"];
  state(): SignalState;
  /** Rejects unless the servers that have these keys answer and take writes. */
  usable(keys: readonly string[]): Promise<void>;
  /** Aborts when `usable` begins to reject. */
  troubled(): AbortSignal;
  /** Write something on each server. Rejects unless it was answered. */
  probe(): Promise<void>;
  close(): void;
};

/** What is known about one server. */
type Health = {
  /** After a late command. */
  resting_until: number;
  /** Why it takes no writes. */
  refusal: string | undefined;
};

/** After a late command, none is tried for this long, so that callers do not all wait for the deadline in turn. */
const rest_after_failure_ms = 500;
/** How often Redis is asked whether it answers and takes writes. */
const beat_ms = 2_000;
/** How long to wait after finding an unusable server before looking again. */
const redial_ms = 1_000;

/**
 * The connections to a Redis, and what is known about its server or servers. One that does not answer, refuses writes,
 * is a replica or too old is noticed within seconds even when idle, by our own write at each beat.
 *
 * @example
 * const link = redisLink({ to: parseRedisUrl(url), keys, timeout_ms: 250 });
 * await link.available(list, () => link.commands.llen(list));
 */
export function redisLink({ to, tls, keys: names, timeout_ms }: LinkOptions): RedisLink {
  const { servers, keys } = connect(to, names, { tls, command_ms_max: timeout_ms });
  const { commands } = servers;
  const healths = new Map<string, Health>();
  /** Why no server can be used: found when connecting. */
  let unfit: SignalUnavailableError | undefined;
  /** Why the last attempt to connect failed. */
  let failure: string | undefined;
  let run_id: string | undefined;
  let trouble = new AbortController();
  let redialling: NodeJS.Timeout | undefined;

  const healthOf = (key: string): Health => {
    const server = servers.serverOf(key);
    let health = healths.get(server);
    if (!health) healths.set(server, (health = { resting_until: -Infinity, refusal: undefined }));
    return health;
  };
  const inTrouble = () => {
    trouble.abort();
    trouble = new AbortController();
  };

  /** Before anything else is sent on a new connection. */
  const inspect = async (): Promise<void> => {
    const facts = (await servers.infos().catch(() => [])).map(readFacts);
    unfit = facts.map((each) => unfitness(each, to.kind)).find(Boolean);
    failure = undefined;
    // Connections still to the previous server would go on without ever hearing from this one.
    if (to.kind !== "cluster") {
      if (run_id !== undefined && facts[0]?.run_id !== run_id) servers.redialOpened();
      run_id = facts[0]?.run_id ?? run_id;
    }
    for (const health of healths.values()) health.resting_until = -Infinity;
    if (unfit === undefined) return;
    inTrouble();
    clearTimeout(redialling);
    redialling = setTimeout(servers.redialAll, redial_ms);
  };

  let inspecting: Promise<void> | undefined;
  commands.on("ready", () => {
    inspecting = inspect().finally(() => (inspecting = undefined));
    inspecting.then(() => (unfit === undefined ? probeAll() : undefined)).catch(() => {});
  });
  commands.on("error", (error: Error & { lastNodeError?: Error }) => {
    failure = (error.lastNodeError ?? error).message;
  });
  servers.onLost(inTrouble);
  let opening: Promise<void> | undefined;
  let beat: NodeJS.Timeout | undefined;
  /** Dials at the first use. The first commands wait for the connection as long as they would for an answer. */
  const begin = (): void => {
    if (beat) return;
    beat = setInterval(() => {
      servers.beat();
      if (commands.status === "ready" && unfit === undefined && !inspecting) probeAll().catch(() => {});
    }, beat_ms).unref();
    servers.beat();
    opening = ready(commands, timeout_ms, new AbortController().signal)
      .then(() => inspecting)
      .catch(() => {})
      .then(() => void (opening = undefined));
  };

  /** The first commands have waited for the connection, and it can be used. */
  const begun = async (): Promise<void> => {
    begin();
    if (opening || inspecting) await (opening ?? inspecting);
    if (unfit !== undefined) throw unfit;
  };
  const down = (key = "") => {
    const server = commands.status === "ready" && to.kind === "cluster" ? servers.serverOf(key) : "";
    const what = server === "" ? "Redis" : `${server} of the Redis cluster`;
    return `there is no connection to ${what}${failure === undefined ? "" : `: ${failure}`}`;
  };
  const noteRefusal = (health: Health, error: Error): void => {
    const begins = health.refusal === undefined;
    health.refusal = `Redis refuses writes: ${error.message}`;
    if (begins) inTrouble();
  };

  const probe = async (key: string): Promise<void> => {
    const health = healthOf(key);
    try {
      await commands.set(key, "1", "PX", 5 * beat_ms);
      health.refusal = undefined;
    } catch (error) {
      // Unanswered, it ends with its connection, which the silence ends.
      if (!isReply(error)) throw error;
      noteRefusal(health, error);
      throw new SignalUnavailableError(health.refusal, { cause: error });
    }
  };
  const probeAll = () => Promise.all(servers.probeKeys().map(probe));

  const ensureUsable = (key: string): void => {
    if (!servers.connected(key)) throw new SignalUnavailableError(down(key));
    const { refusal } = healthOf(key);
    if (refusal !== undefined) throw new SignalUnavailableError(refusal);
  };

  const attempt = async <T>(key: string, command: () => Promise<T>): Promise<T> => {
    const health = healthOf(key);
    try {
      return await command();
    } catch (error) {
      // An answer, if a bad one: other commands are not in danger.
      if (error instanceof SignalUnavailableError) throw error;
      if (!isReply(error)) health.resting_until = performance.now() + rest_after_failure_ms;
      else if (refusesWrites(error)) noteRefusal(health, error);
      throw servers.connected(key) ? unavailable(error) : new SignalUnavailableError(down(key), { cause: error });
    }
  };

  const available: Available = async (key, command) => {
    await begun();
    if (performance.now() < healthOf(key).resting_until)
      throw new SignalUnavailableError(servers.connected(key) ? "Redis did not answer a moment ago" : down(key));
    return attempt(key, command);
  };

  return {
    keys,
    commands,
    available,
    slotOf: servers.slotOf,
    open(...of) {
      begin();
      return servers.open(...of);
    },
    state() {
      if (unfit !== undefined) return "refusing";
      if (commands.status !== "ready") return "down";
      const probed = servers.probeKeys();
      if (!probed.some(servers.connected)) return "down";
      return probed.every((key) => servers.connected(key) && healthOf(key).refusal === undefined) ? "up" : "refusing";
    },
    async usable(of) {
      await begun();
      for (const key of of) ensureUsable(key);
    },
    troubled: () => trouble.signal,
    async probe() {
      await begun();
      if (commands.status !== "ready") throw new SignalUnavailableError(down());
      await Promise.all(servers.probeKeys().map((key) => available(key, () => probe(key))));
    },
    close() {
      clearInterval((beat ??= setInterval(() => {}, beat_ms)));
      clearTimeout(redialling);
      servers.close();
    },
  };
}

function connect(to: RedisAddress, names: SignalKeys, options: { tls: RedisTls | undefined; command_ms_max: number }) {
  if (to.kind !== "cluster") return { servers: oneServer(to, names, options), keys: names };
  const keys = clusterKeys(names);
  return { servers: clusterServers(to, keys, options), keys };
}

/** A cluster's client tries again while a slot is being moved, before it gives up. */
const isReply = (error: unknown): error is Error =>
  error instanceof ReplyError ||
  (error instanceof Error && /^Too many Cluster redirections\..* (TRYAGAIN|ASK) /.test(error.message));

/** Redis 6 says so in the middle of a script's error. */
const refusesWrites = (error: Error): boolean =>
  /\b(READONLY|OOM|MISCONF|NOREPLICAS|MASTERDOWN|CLUSTERDOWN)\b/.test(error.message);
