import { limits } from "@atlasqueue/contract";
import { SettingError } from "@atlasqueue/core";
import { isLoopback, type HostRule } from "@atlasqueue/program/hosts";
import {
  keptFor,
  parseSettings,
  retentionSettings,
  retryPolicy,
  retrySettings,
  serverConfig,
  serverSettings,
  setting,
  telemetryConfig,
  telemetrySettings,
  withOwnTelemetry,
} from "@atlasqueue/program";
import { z } from "zod";
import { trustedProxies } from "./http/input/address.ts";

/** Every environment variable the API reads. */
export const apiSettings = z.object({
  ...serverSettings,
  AUTH: z.enum(["disabled", "required"]).describe('"disabled" or "required"').default("disabled"),
  ADMIN_SECRET: z
    .string()
    .regex(/^[!-~][ -~]{14,}[!-~]$/)
    .describe("a text of at least 16 printable ASCII characters on one line, as a header can carry it")
    .optional(),
  // 0 is no limit; the default is decided below.
  RATE_LIMIT_REQUESTS: setting.integer(0, 1_000_000_000).optional(),
  RATE_LIMIT_SECONDS: setting.seconds(1, 86_400).default(60),
  ALLOW_UNAUTHENTICATED: setting.flag().default(false),
  // Besides this machine's own; the default is decided below.
  ALLOWED_HOSTS: setting.hosts().optional(),
  PUBLIC_ORIGIN: setting.origin().optional(),
  TRUSTED_PROXIES: setting
    .list("addresses and ranges of them, separated by commas, such as 10.0.0.0/8,192.0.2.1")
    .refine(areRanges)
    .optional(),
  DASHBOARD: setting.flag().default(true),
  DOCS: setting.flag().default(true),
  BASE_PATH: setting.basePath().optional(),
  API_HOST: setting.address().default("127.0.0.1"),
  API_PORT: setting.port().default(8_000),
  // As long as the proxy keeps an idle connection, and a little more: then the proxy is the one to close it.
  API_KEEP_ALIVE_SECONDS: setting.seconds(1, 3_600).default(65),
  API_PROCESSES: setting.integer(1, 256).default(1),
  API_HANG_SECONDS: setting.seconds(0, 86_400).default(30),
  BODY_BYTES_MAX: setting.integer(1_024, limits.body_bytes_max).default(limits.body_bytes_max),
  PAYLOAD_BYTES_MAX: setting.integer(2, limits.payload_bytes_max).default(limits.payload_bytes_max),
  QUEUES_PER_TENANT_MAX: setting.integer(1, 1_000_000).default(10_000),
  // 0 is no quota.
  STORED_BYTES_PER_TENANT_MAX: setting.integer(0, 1_000_000_000_000_000).default(0),
  IDEMPOTENCY_TTL_SECONDS: setting.seconds(1, 31_536_000).default(86_400),
  DATABASE_CONNECTIONS_MAX: setting.integer(1, 1_000).default(10),
  // A request is refused within 2 s of its arrival: the rest is for a busy machine to notice and to answer.
  DATABASE_TIMEOUT_SECONDS: setting.seconds(0.1, 60).default(1.5),
  // For jobs that remote workers fail; the same as the workers'.
  ...retrySettings,
  ...retentionSettings,
  SHUTDOWN_SECONDS: setting.seconds(0, 600).default(10),
  ...telemetrySettings,
  TRACE_URL_TEMPLATE: setting.traceUrlTemplate().optional(),
});

/** 10,000 a second: against a tenant's runaway loop, not against its work. Only with tokens are there tenants to limit. */
const rate_limit_default = { disabled: 0, required: 600_000 };

export type ApiConfig = ReturnType<typeof readApiConfig>;

/**
 * The API's configuration. Throws `SettingError`, whose message is one line, for the first setting that is wrong.
 *
 * @example
 * const config = readApiConfig({ DATABASE_URL: "postgres://localhost/atlasqueue" });
 */
export function readApiConfig(env: Record<string, string | undefined>) {
  const set = parseSettings(apiSettings, withOwnTelemetry(env));
  const open = set.AUTH === "disabled";
  if (open && !isLoopback(set.API_HOST) && !set.ALLOW_UNAUTHENTICATED)
    throw new SettingError(
      `API_HOST must be a loopback address such as 127.0.0.1, as nothing checks who calls; got ` +
        `${JSON.stringify(set.API_HOST)}. AUTH=required checks it, ALLOW_UNAUTHENTICATED=true lets everyone in who can reach it`,
    );
  // A move waits 10 s for requests: a statement waits for its turn for up to three times its time, then has it once.
  const { CELLS_FILE: file, DATABASE_TIMEOUT_SECONDS: seconds } = set;
  if (file !== undefined && seconds > 2.5)
    throw new SettingError(`DATABASE_TIMEOUT_SECONDS must be at most 2.5 with CELLS_FILE; got ${seconds}`);
  const limit = set.RATE_LIMIT_REQUESTS ?? rate_limit_default[set.AUTH];
  return {
    ...serverConfig(set),
    auth: set.AUTH,
    /** What a caller of `POST /admin/provision` must know; when undefined, no one may call it. */
    admin_secret: set.ADMIN_SECRET,
    rate_limit: limit === 0 ? undefined : { limit, period_ms: set.RATE_LIMIT_SECONDS * 1_000 },
    listen: { host: set.API_HOST, port: set.API_PORT },
    /** Cut off from the paths of requests that begin with it. */
    base_path: set.BASE_PATH,
    keep_alive_ms: set.API_KEEP_ALIVE_SECONDS * 1_000,
    /** On the same port. */
    processes: set.API_PROCESSES,
    /** One of several processes whose event loop is blocked for so long is killed and replaced; undefined: never. */
    hang_ms: set.API_HANG_SECONDS === 0 ? undefined : set.API_HANG_SECONDS * 1_000,
    /** The host names that a request may use. Undefined allows every name. */
    allowed_hosts: hostRule(set.ALLOWED_HOSTS, open, set.ALLOW_UNAUTHENTICATED),
    /** The origin that browsers see; undefined: that of the Host header. */
    public_origin: set.PUBLIC_ORIGIN,
    /** The proxies whose X-Forwarded-For counts. */
    trusted_proxies: set.TRUSTED_PROXIES && trustedProxies(set.TRUSTED_PROXIES),
    /** Whether the page is served at `/`. */
    with_dashboard: set.DASHBOARD,
    /** Whether the documentation is served at `/guide`. */
    with_docs: set.DOCS,
    body_bytes_max: set.BODY_BYTES_MAX,
    payload_bytes_max: set.PAYLOAD_BYTES_MAX,
    queues_per_tenant_max: set.QUEUES_PER_TENANT_MAX,
    stored_bytes_per_tenant_max: set.STORED_BYTES_PER_TENANT_MAX,
    idempotency_ttl_seconds: set.IDEMPOTENCY_TTL_SECONDS,
    /** For jobs that remote workers fail. */
    backoff: retryPolicy(set),
    ...keptFor(set),
    shutdown_ms: set.SHUTDOWN_SECONDS * 1_000,
    ...telemetryConfig(set),
    /** Where people look at traces, with `{trace_id}` in it. */
    trace_url_template: set.TRACE_URL_TEMPLATE,
  };
}

/** With tokens, a page that rebinds its name has none to show; names are then only checked if they are set. */
function hostRule(names: string[] | undefined, open: boolean, anybody: boolean): HostRule | undefined {
  if (names?.includes("*") || (names === undefined && !open)) return undefined;
  return { names: names ?? [], addresses: anybody || !open };
}

function areRanges(ranges: readonly string[]): boolean {
  try {
    trustedProxies(ranges);
    return true;
  } catch {
    return false;
  }
}
