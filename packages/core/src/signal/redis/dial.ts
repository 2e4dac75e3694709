import { Cluster, Redis, type RedisOptions } from "ioredis";
import type { Endpoint, RedisAddress } from "./address.ts";
import type { ScriptedRedis } from "./commands.ts";
import { scripts } from "./scripts.ts";

/** A connection on which nothing came back for this long, although something was asked, is dead. */
const silence_ms_max = 2_000;
/** How long a connection may take from being opened to accepting commands. */
const handshake_ms_max = 2_000;
const retry_ms = (tries: number) => Math.min(tries * 50, 1_000);

/** In PEM. By default the authorities that Node trusts, no certificate of our own, and the name that was dialled. */
export type RedisTls = {
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
  /** The name in the servers' certificates, where they are dialled by another or by address. */
  servername?: string | undefined;
};

export type DialOptions = {
  tls?: RedisTls | undefined;
  /** A command that has not answered by then has failed. Default: only the connection's silence ends it. */
  command_ms_max?: number | undefined;
  /** For blocking pops, which are silent by nature: their sender watches them. */
  blocking?: boolean;
  /** Dialled by `goOn`, and does not keep the process alive. */
  lazy?: boolean;
  /** Asked before each dial but the first: the server may be another one by then. */
  where?: () => Endpoint;
};

type To<Kind> = Extract<RedisAddress, { kind: Kind }>;

/**
 * A connection that is redialled whenever it ends, and that ends itself when the other side is silent or takes no
 * writes: TCP alone would wait a quarter of an hour for a lost answer. No offline queue, no resending: a command that
 * cannot be sent now fails now, as its answer is only a hint. With sentinels, they are asked for the master each time.
 * See decisions/2026-11-21-redis-link.md.
 */
export function dial(to: To<"server" | "sentinel">, options: DialOptions = {}): ScriptedRedis {
  const redis = new Redis({
    ...shared(to, options),
    ...(to.kind === "server" ? to.server : sentinelOptions(to, options)),
    db: to.database,
    enableOfflineQueue: false,
    lazyConnect: options.lazy ?? false,
    scripts,
    retryStrategy: (tries: number) => {
      if (options.where) Object.assign(redis.options, options.where());
      return retry_ms(tries);
    },
  }) as ScriptedRedis;
  // Each failure reaches the command that met it; without a listener ioredis prints them all.
  redis.on("error", () => {});
  readyWithoutInfo(redis);
  hangUpWhenNotReady(redis);
  if (options.lazy) keepNoProcess(redis);
  return redis;
}

/**
 * The same for the servers of a cluster: a connection to each, opened by the first command for it. One that ends is
 * dialled again by the next command, which finds out on the way which server has its key by now.
 */
export function dialCluster(to: To<"cluster">, options: DialOptions = {}): Cluster {
  const cluster = new Cluster(to.servers, {
    // A server that is still loading says so to the first command.
    redisOptions: { ...shared(to, options), enableReadyCheck: false },
    enableOfflineQueue: false,
    lazyConnect: true,
    scripts,
    clusterRetryStrategy: retry_ms,
    // A command is sent on, and tried again, only for as long as it may take to answer.
    maxRedirections: 4,
    retryDelayOnFailover: 50,
    retryDelayOnTryAgain: 50,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: handshake_ms_max,
    // A moved slot is found by the commands for it.
    slotsRefreshInterval: 30_000,
    // Certificates are for names.
    dnsLookup: (name, done) => done(null, name),
  });
  cluster.on("error", () => {});
  cluster.on("+node", hangUpWhenNotReady);
  cluster.on("+node", keepNoProcess);
  keepNoProcess(cluster);
  return cluster;
}

function shared(to: RedisAddress, { tls, command_ms_max, blocking = false }: DialOptions) {
  return {
    username: to.username,
    password: to.password,
    tls: to.tls ? { ...tls } : undefined,
    family: to.family ?? 0,
    connectTimeout: 2_000,
    autoResendUnfulfilledCommands: false,
    // The subscriber does it itself (`notices.ts`): when the connection is lost again at that very moment, ioredis
    // leaves its own subscription's rejection to nobody, and Node ends the process.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // A name may point to another server by now.
    reconnectOnError: (error: Error) => isReadOnly(error),
    // Do not wait for an answer to the farewell.
    disconnectTimeout: 100,
    keepAlive: 10_000,
    replyMapping: "legacy",
    commandTimeout: command_ms_max,
    socketTimeout: blocking ? undefined : Math.max(silence_ms_max, 2 * (command_ms_max ?? 0)),
  } satisfies RedisOptions;
}

function sentinelOptions({ sentinels, set, sentinel_login, ...to }: To<"sentinel">, { tls }: DialOptions) {
  return {
    sentinels: sentinels.map((each) => ({ ...each, family: to.family ?? 0 })),
    name: set,
    sentinelUsername: sentinel_login.username,
    sentinelPassword: sentinel_login.password,
    // One that accepts and never speaks is passed over.
    sentinelCommandTimeout: handshake_ms_max,
    sentinelRetryStrategy: retry_ms,
    enableTLSForSentinelMode: to.tls,
    ...(to.tls ? { sentinelTLS: { ...tls } } : {}),
  } satisfies RedisOptions;
}

/**
 * End the connection, so that it is redialled. One that is being dialled is left alone: ioredis would take a disconnect
 * at that moment as final, and never dial again.
 */
export function dialAnew(redis: Redis | Cluster): void {
  if (redis.status === "ready" || redis.status === "connect") redis.disconnect(true);
}

/**
 * End it for good. A certificate that is not trusted and the alert behind it are two errors of one socket, and ioredis
 * listens for one: Node ends the process for an error that nobody hears.
 */
export function hangUp(redis: Redis | Cluster): void {
  // Without a connection there is no stream, whatever its type says.
  for (const { stream } of redis instanceof Cluster ? redis.nodes() : [redis])
    (stream as typeof stream | undefined)?.on("error", () => {});
  redis.disconnect();
}

type Informed = (error: Error | null, info?: string) => unknown;

/**
 * ioredis reads INFO before a connection is ready, and prints a plain line where the user has no right to. That is no
 * trouble (`server-facts.ts` does without), so it is given an empty INFO then.
 */
function readyWithoutInfo(redis: Redis): void {
  const info = redis.info.bind(redis) as () => Promise<string>;
  const forReadyCheck = (informed: Informed) =>
    info().then(
      (text) => informed(null, text),
      (error: Error) => (error.message.includes("NOPERM") ? informed(null, "") : informed(error)),
    );
  redis.info = ((informed?: Informed) => (informed ? forReadyCheck(informed) : info())) as Redis["info"];
}

/** Otherwise a server that accepts and never speaks would be waited for forever. */
function hangUpWhenNotReady(redis: Redis): void {
  let timer: NodeJS.Timeout | undefined;
  redis.on("connect", () => {
    clearTimeout(timer);
    timer = setTimeout(() => dialAnew(redis), handshake_ms_max).unref();
  });
  for (const event of ["ready", "close", "end"]) redis.on(event, () => clearTimeout(timer));
}

/** A command under way has a timer, and keeps the process alive itself. */
function keepNoProcess(redis: Redis | Cluster): void {
  if (!(redis instanceof Cluster)) redis.on("connect", () => redis.stream.unref());
  const retrying = redis as unknown as { reconnectTimeout?: NodeJS.Timeout | null };
  redis.on("reconnecting", () => retrying.reconnectTimeout?.unref());
}

/** The server has become a replica. Redis 6 says so in the middle of a script's error. */
const isReadOnly = (error: Error) => error.message.includes("READONLY");
