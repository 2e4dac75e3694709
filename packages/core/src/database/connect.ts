import postgres, { type Patched } from "./driver.ts";
import type { Observe } from "../observe/events.ts";
import { isReadOnly } from "./errors.ts";
import type { DbHealth } from "./patience.ts";
import { createFairSemaphore, type FairSemaphore } from "./pool/fair-semaphore.ts";
import { parseDatabaseUrl } from "./server/connection-string.ts";
import { schemaNamed, type SchemaName } from "./schema/name.ts";
import { openSocket } from "./socket.ts";

export type Sql = postgres.Sql;

/**
 * The one `text[]` that is read, the tags of a job: none has a character that an array's text escapes, but the tag `null` is
 * quoted there.
 */
const texts = {
  to: 1009,
  from: [1009],
  serialize: (text: string) => text,
  parse: (text: string) => text.slice(1, -1).replaceAll('"', "").split(","),
};

/** For whom statements are sent. */
export type TenantContext = {
  tenant: string;
  /** `lease`: an operation on a lease, such as a renewal. Default `rest`. */
  line?: "lease" | "rest";
  /** Only asked for, and only minded, while one waits for its turn. */
  gone?: (() => AbortSignal) | undefined;
};

/** A pool and the deadline for its queries. */
export type Database = {
  sql: Sql;
  schema: SchemaName;
  timeout_ms: number;
  /** One connection outside of the pool, opened when a late statement must be looked for. */
  control: Sql;
  /** One connection more, for renewals of leases while all of the pool's are taken. */
  spare: Sql;
  /** Shared by all users of the pool, whatever their deadlines. */
  pulse: DbHealth;
  /** Shared likewise: whose statement is sent next, among those sent for tenants. */
  turns: { lease: FairSemaphore; rest: FairSemaphore };
  /** For whom statements are sent: see `forTenant`. Usually for nobody. */
  context?: TenantContext;
  /** Awaited before each statement: see `requiredAtFirstUse`. */
  atFirstUse?: () => Promise<void>;
  /** A transaction that is under way: all statements are sent in it. */
  within?: <Row>(statement: { text: string; params: readonly (string | number)[] }) => Promise<readonly Row[]>;
  connections(): Connections;
  /**
   * Call `hear` each time a connection in use ends other than by our own doing: the server crashed, stopped or ended
   * it, or the network did. Call the result to stop listening.
   */
  onBreak(hear: () => void): () => void;
  /** From now on statements are sent unprepared: something between us and the server does not keep them. */
  stopPreparing(): void;
  /** From now on connections ask for these settings as they open, and open ones are closed: see `requirePostgres`. */
  chooseSettings(settings: Record<string, string>): void;
  /**
   * The pool's connections may all lead to where nobody is any more: the idle ones are closed now, those in use after
   * what they do. What is asked next dials.
   */
  retire(): void;
  close(): Promise<void>;
};

/**
 * The pool's connections: `open` ones (or about to be), the `busy` among them with a statement or a transaction under
 * way, how many may be open, and how many statements are waiting because none is free.
 */
export type Connections = { open: number; busy: number; max: number; waiting: number };

export type DatabaseOptions = {
  /** Read as libpq does. It may name several hosts, comma-separated: the one that takes writes is used. */
  url: string;
  /** The schema that the tables are in. Default `atlasqueue`. */
  schema?: string | undefined;
  /** Connections at most. */
  connectionsMax: number;
  /** A query sent and not answered by then is cancelled and counts as "database away". */
  timeoutMs: number;
  /**
   * Off for poolers that cannot keep them; PgBouncer 1.21 and newer can. Where one turns out not to, they are switched
   * off by themselves.
   */
  preparedStatements?: boolean;
  observe?: Observe | undefined;
  /** How long a connection stays open unused: a server has few, and all processes share them. Default 20. */
  idleSeconds?: number;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
};

/** After this long in silence a connection is checked. */
const keep_alive_seconds = 10;

/** How much longer than a deadline a connection may say nothing while it is waited for. */
const silence_ms_more_max = 2_000;

/** So that who looks for a late statement does not do it over a connection that is as old. */
const control_idle_seconds = 1;

/**
 * Open a pool. Nothing is sent before the first query; a database that is away makes queries fail, not this call. A
 * connection that failed once is thrown away, and the next query dials again; one that takes no writes, or that the
 * server knows nothing of, takes all the others with it.
 * Throws `DatabaseUrlError`, a TypeError, and a TypeError for a schema's name that is not accepted.
 *
 * @example
 * const database = connectDatabase({ url, connectionsMax: 10, timeoutMs: 10_000 });
 * await database.close();
 */
export function connectDatabase(options: DatabaseOptions): Database {
  const schema = schemaNamed(options.schema);
  const { driver, connect_timeout_seconds, startup, ignored } = parseDatabaseUrl(options.url, options.applicationName);
  if (ignored.length > 0) options.observe?.({ event: "database_url_parameters_ignored", parameters: ignored });
  const silence_ms_max = options.timeoutMs + Math.min(options.timeoutMs, silence_ms_more_max);
  const listeners = new Set<() => void>();
  const settings = {
    ...driver,
    prepare: options.preparedStatements ?? true,
    connect_timeout: connect_timeout_seconds ?? Math.max(1, Math.ceil(options.timeoutMs / 1_000)),
    // Its default grows to 20 s, and would outlast a database outage by as much.
    backoff: (tries: number) => Math.min(0.025 * 2 ** tries, 0.5),
    keep_alive: keep_alive_seconds,
    // One query at a time per connection: another would wait behind a slow one, be cut with it, and be hit by a late
    // cancellation.
    max_pipeline: 0,
    fetch_types: false,
    types: { texts },
    onnotice: () => {},
    // The driver reads times in this style only. Word for word as servers report it: poolers compare the texts.
    connection: { ...startup, DateStyle: "ISO, MDY" },
    // What follows comes from our patch, in patches/.
    discard(error: unknown) {
      if (!isReadOnly(error)) return false;
      retireAll();
      return true;
    },
    onclose: (_id: number, broke?: boolean) => {
      if (broke) for (const hear of listeners) hear();
    },
    socket: (_driver: unknown, host: string, port: number, isWaiting: () => boolean) =>
      openSocket({ host, port }, { silence_ms_max, isWaiting }),
  };
  const open = (max: number, idle_timeout: number): Sql =>
    postgres({ ...settings, max, idle_timeout } as unknown as postgres.Options<Record<string, never>>);
  const sql = open(options.connectionsMax, options.idleSeconds ?? 20);
  const control = open(1, control_idle_seconds);
  const spare = open(1, options.idleSeconds ?? 20);
  const pool = sql as unknown as Patched;
  const all = [sql, control, spare];
  const retireAll = (): void => {
    for (const each of all) (each as unknown as Patched).retire();
  };
  const max = options.connectionsMax;
  // A quarter of them is for operations on leases alone.
  const turns = { lease: createFairSemaphore(max), rest: createFairSemaphore(max - Math.floor(max / 4)) };
  return {
    sql,
    schema,
    control,
    spare,
    timeout_ms: options.timeoutMs,
    pulse: { answered_at: -Infinity },
    turns,
    connections() {
      const { idle, busy, waiting } = pool.load();
      return { open: idle + busy, busy, max, waiting: waiting + turns.lease.waiting() + turns.rest.waiting() };
    },
    onBreak(hear) {
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
    stopPreparing() {
      // The driver looks at this for each statement.
      const sets = all.map(({ options: set }) => set as { prepare: boolean });
      if (!sets.some(({ prepare }) => prepare)) return;
      for (const each of sets) each.prepare = false;
      options.observe?.({ event: "prepared_statements_disabled" });
    },
    chooseSettings(chosen) {
      // The driver looks at these for each connection.
      for (const { options: set } of all) Object.assign(set.connection, chosen);
      retireAll();
    },
    retire: retireAll,
    close: async () => void (await Promise.all(all.map((each) => each.end({ timeout: 2 })))),
  };
}
