import { readFileSync, statSync } from "node:fs";
import { isIPv6 } from "node:net";
import { jobType, limits, queueName } from "@atlasqueue/contract";
import { z } from "zod";
import {
  databaseUrlAccepts,
  DatabaseUrlError,
  defaultSchema,
  isSchemaName,
  isTraceUrlTemplate,
  logLevels,
  parseDatabaseUrl,
  parseRedisUrl,
  RedisUrlError,
  redisUrlAccepts,
  schemaAccepts,
  SettingError,
  type LogLevel,
} from "@atlasqueue/core/internal/program";
import { bareHost } from "../hosts.ts";
import { cellVariables, readCellsFile, type Env } from "./cells-file.ts";

/** What a setting takes, worded to complete "must be …" in the error. */
const described = <T extends z.ZodType>(schema: T, accepts: string): T => schema.describe(accepts);

const number = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

/** Building blocks for an app's `config.ts`: each turns the text of an environment variable into a value. */
export const setting = {
  seconds: (min: number, max: number) => described(number(min, max), `a number of seconds from ${min} to ${max}`),
  hours: (min: number, max: number) => described(number(min, max), `a number of hours from ${min} to ${max}`),
  integer: (min: number, max: number) => described(number(min, max).pipe(z.int()), `an integer from ${min} to ${max}`),
  share: () => described(number(0, 1), "a number from 0 to 1"),
  port: () => described(number(0, 65_535).pipe(z.int()), "a port from 0 (any free one) to 65535"),
  flag: () =>
    described(
      z.enum(["true", "false", "1", "0"]).transform((text) => text === "true" || text === "1"),
      "true or false",
    ),
  oneOf: <T extends string>(values: readonly T[]) => described(z.enum(values), `one of ${values.join(", ")}`),
  text: (accepts = "a text that is not empty") => described(z.string().min(1), accepts),
  databaseUrl: () => described(z.string().superRefine(urlFault(parseDatabaseUrl)), databaseUrlAccepts),
  schemaName: () => described(z.string().refine(isSchemaName), schemaAccepts),
  redisUrl: () => described(z.string().superRefine(urlFault(parseRedisUrl)), redisUrlAccepts),
  /** The path of a PEM file; its value is what is in the file, or what `value` makes of its path. */
  pemFile: (what: "certificates" | "a private key", value?: (file: string) => string) =>
    described(
      z.string().transform((file, context) => {
        const text = pem(file, what, context);
        return value ? value(file) : text;
      }),
      `the path of a PEM file with ${what}`,
    ),
  logLevel: () =>
    described(
      z
        .string()
        .toLowerCase()
        .refine((text) => Object.hasOwn(logLevels, text))
        .transform((text): LogLevel => logLevels[text as keyof typeof logLevels]),
      "DEBUG, INFO, WARNING or ERROR",
    ),
  httpUrl: () =>
    described(
      z.url({ protocol: /^https?$/ }),
      "a URL that begins with http:// or https://, such as http://127.0.0.1:4318",
    ),
  origin: () =>
    described(
      z.url({ protocol: /^https?$/ }).refine((text) => text === new URL(text).origin),
      "an origin such as https://queue.example.com, without a path",
    ),
  basePath: () =>
    described(
      z.string().regex(/^(\/[A-Za-z0-9._~-]+)+$/),
      "a path that begins with a slash and ends without one, such as /queue",
    ),
  traceUrlTemplate: () =>
    described(
      z.string().refine(isTraceUrlTemplate),
      "an http or https URL with {trace_id} after the host, such as https://jaeger.example.com/trace/{trace_id}",
    ),
  host: () =>
    described(
      z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/),
      "the name of a host, such as redis.internal",
    ),
  /** Where to listen. An IPv6 address may be in brackets, as in a URL. */
  address: () => described(z.string().min(1).transform(bareHost), "an address to listen on, such as 127.0.0.1"),
  /** Names of hosts, in lower case; `*` among them is any. */
  hosts: () =>
    described(
      z
        .string()
        .transform((text) => text.split(",").map((part) => bareHost(part.trim())))
        .pipe(z.array(z.string().refine((part) => hostOrAny.test(part) || isIPv6(part))).max(100)),
      "names of hosts without ports, separated by commas, such as queue.example.com, or * for any",
    ),
  list: (accepts: string) => described(parts(), accepts),
  queues: () =>
    described(
      parts().refine((names) => names.every((name) => queueName.safeParse(name).success)),
      `names of queues, separated by commas, each ${queueName.description}`,
    ),
  types: () =>
    described(
      parts().refine((names) => {
        const are_types = names.every((name) => jobType.safeParse(name).success);
        return are_types && names.length > 0 && names.length <= limits.lease_types_max;
      }),
      `1 to ${limits.lease_types_max} types of jobs, separated by commas, each ${jobType.description}`,
    ),
};

const hostOrAny = /^(\*|[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?)$/;

function parts() {
  return z.string().transform((text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  );
}

/** An issue whose message completes "<setting> must …" by itself. */
const told = { code: "custom", params: { told: true } } as const;

function urlFault(parse: (text: string) => unknown) {
  return (text: string, context: z.RefinementCtx): void => {
    try {
      parse(text);
    } catch (error) {
      if (!(error instanceof RedisUrlError || error instanceof DatabaseUrlError)) throw error;
      context.addIssue({ ...told, input: undefined, message: error.fault });
    }
  };
}

const pemLabels = {
  certificates: /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/,
  "a private key": /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----/,
};

function pem(file: string, what: keyof typeof pemLabels, context: z.RefinementCtx): string {
  const wrong = (why: string) => {
    const message = `be the path of a PEM file with ${what}; got ${JSON.stringify(file)}: ${why}`;
    context.addIssue({ ...told, input: undefined, message });
    return z.NEVER;
  };
  try {
    if (statSync(file).size > pem_bytes_max) return wrong(`it is over ${pem_bytes_max} bytes`);
    const text = readFileSync(file, "utf8");
    return pemLabels[what].test(text) ? text : wrong("there is none in it");
  } catch (error) {
    return wrong((error as NodeJS.ErrnoException).code ?? "it cannot be read");
  }
}

/** Where PostgreSQL is. */
export const databaseSettings = {
  DATABASE_URL: setting.databaseUrl(),
  DATABASE_TLS_CA_FILE: setting.pemFile("certificates", (file) => file).optional(),
  DATABASE_SCHEMA: setting.schemaName().default(defaultSchema),
};

/** The connection string that they amount to. Throws `SettingError` when they do not go together. */
export function databaseUrl(
  set: Pick<z.output<z.ZodObject<typeof databaseSettings>>, "DATABASE_URL" | "DATABASE_TLS_CA_FILE">,
): string {
  const { DATABASE_URL: given, DATABASE_TLS_CA_FILE: file } = set;
  const url = given.trim();
  if (file === undefined) return url;
  const mode = /[?&]ssl(mode)?=/.test(url) ? "" : "&sslmode=verify-full";
  const whole = `${url}${url.includes("?") ? "&" : "?"}sslrootcert=${encodeURIComponent(file)}${mode}`;
  const { ssl } = parseDatabaseUrl(whole).driver;
  if (ssl && ssl.rejectUnauthorized) return whole;
  const needs = "needs a host in DATABASE_URL, and no sslmode or one of require, verify-ca and verify-full";
  throw new SettingError(`DATABASE_TLS_CA_FILE ${needs}`);
}

const secret = /(?<!TRACE_)URL|PASSWORD|SECRET|TOKEN/;

const file_bytes_max = 64 * 1_024;
/** As large as the whole list of a system's authorities. */
const pem_bytes_max = 1_024 * 1_024;

/**
 * Parse the variables a schema names; others are left alone, and an empty one counts as absent. Secrets may be in a
 * file instead, as containers get them: `DATABASE_URL_FILE` names it. With CELLS_FILE, the home cell's servers count. Throws `SettingError` for the first that is
 * wrong.
 *
 * @example
 * parseSettings(z.object({ API_PORT: setting.port().default(8000) }), process.env);
 */
export function parseSettings<S extends z.ZodObject>(schema: S, env: Env): z.output<S> {
  const home = "DATABASE_URL" in schema.shape && env["CELLS_FILE"] ? readCellsFile(env["CELLS_FILE"])[0] : env;
  const given = Object.fromEntries(
    Object.keys(schema.shape).map((name) => {
      const from = cellVariables.includes(name) ? home : env;
      return [name, (from[name] === "" ? undefined : from[name]) ?? fromFile(name, from)];
    }),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0]);
  const value = given[name];
  const accepts = describe(schema.shape[name]);
  if (value === undefined) throw new SettingError(`${name} is not set; it must be ${accepts}`);
  if (issue?.code === "custom" && issue.params?.["told"] === true)
    throw new SettingError(`${name} must ${issue.message}`);
  throw new SettingError(
    `${name} must be ${accepts}; got ${secret.test(name) ? "something else (not shown)" : JSON.stringify(withoutUser(value))}${serviceLink(name, value)}`,
  );
}

/** Kubernetes sets `API_PORT=tcp://10.0.0.1:8000` in each pod of a namespace with a Service with the name `api`. */
function serviceLink(name: string, value: string): string {
  const service = /^(.+)_PORT$/.exec(name)?.[1]?.toLowerCase().replaceAll("_", "-");
  if (service === undefined || !/^(tcp|udp|sctp):\/\//.test(value)) return "";
  return `, which Kubernetes sets for the Service "${service}". Set enableServiceLinks: false in the pod, or set ${name}`;
}

/** A URL that is no secret may still have a name and a password in it, or the query a key. */
function withoutUser(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1[hidden]@").replace(/([?&;][^=&#]*=)[^&#]*/g, "$1[hidden]");
}

/** The variable wins over its file, being closer to the program. */
function fromFile(name: string, env: Env): string | undefined {
  const file = secret.test(name) ? env[`${name}_FILE`] : undefined;
  if (file === undefined || file === "") return undefined;
  const wrong = (why: string) =>
    new SettingError(`${name}_FILE must be the path of a file that holds ${name}; got ${JSON.stringify(file)}: ${why}`);
  let text: string;
  try {
    if (statSync(file).size > file_bytes_max) throw wrong(`it is over ${file_bytes_max} bytes`);
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof SettingError) throw error;
    throw wrong((error as NodeJS.ErrnoException).code ?? "it cannot be read");
  }
  // Editors and `echo` end a file with a line break.
  const value = text.replace(/\r?\n$/, "");
  if (value === "") throw wrong("it is empty");
  return value;
}

function describe(schema: unknown): string {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return describe(schema.unwrap());
  return (schema instanceof z.ZodType && schema.description) || "something else";
}
