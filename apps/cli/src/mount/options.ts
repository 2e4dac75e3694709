import type { ApiConfig } from "@atlasqueue/api";
import type { Scope } from "@atlasqueue/contract";
import type { QueueOptions } from "@atlasqueue/core";

/** Who sends a request, as your own sign-in knows them. */
export type DashboardUser = {
  /** Shown in the activity of the queue. */
  name: string;
  /** `read` to look, `submit` and `work` to act on jobs, `admin` for everything. */
  scopes: readonly Scope[];
  /** The tenant whose jobs they see. Default `default`. */
  tenant?: string;
};

/** The connections, as `createQueue` takes them. */
type Connection = Pick<
  QueueOptions,
  "databaseUrl" | "schema" | "redisUrl" | "redisTls" | "keys" | "connectionsMax" | "preparedStatements"
>;

export type DashboardOptions = Connection & {
  /** The path at which your program serves it, such as `/admin/queue`. Default: the root. */
  basePath?: string;
  /** Your sign-in, called for each request. If it returns undefined, the response is 401. */
  user: (request: Request) => DashboardUser | undefined | Promise<DashboardUser | undefined>;
  /** The origin in the browser's address bar, if a proxy changes the Host header. */
  publicOrigin?: string;
};

/** The API's settings. Loads the API. Throws `SettingError` for an option that it cannot use. */
export async function configOf(options: DashboardOptions): Promise<ApiConfig> {
  const { readApiConfig } = await import("@atlasqueue/api");
  const { keys, redisTls, connectionsMax, preparedStatements } = options;
  const config = readApiConfig({
    DATABASE_URL: options.databaseUrl,
    DATABASE_SCHEMA: options.schema,
    DATABASE_CONNECTIONS_MAX: connectionsMax?.toString(),
    DATABASE_PREPARED_STATEMENTS: preparedStatements?.toString(),
    REDIS_URL: options.redisUrl,
    PUBLIC_ORIGIN: options.publicOrigin,
    // The program has decided which names it answers to.
    ALLOWED_HOSTS: "*",
    LOG_LEVEL: "WARNING",
  });
  const redis = config.redis && { ...config.redis, ...(keys && { keys }), ...(redisTls && { tls: redisTls }) };
  return { ...config, redis };
}
