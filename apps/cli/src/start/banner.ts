import { randomUUID } from "node:crypto";
import type { DatabaseServer, RedisServer } from "./servers.ts";

export type BannerFacts = {
  api_url: string;
  metrics_url: string;
  /** Whether the API serves it. */
  dashboard: boolean;
  /** Absent without Redis. */
  dlq_key: string | undefined;
  database: DatabaseServer;
  redis: RedisServer;
  /** Whether the API asks for a token. */
  tokens: boolean;
  /** Whether the process runs as root, and with it the handlers. */
  root: boolean;
};

/** What a person needs to use the running system: plain lines, each command working when pasted. */
export function banner(facts: BannerFacts): string {
  const lines = [
    "",
    `AtlasQueue runs at ${facts.api_url}`,
    ...(facts.dashboard ? [`Dashboard:   ${facts.api_url}/ in a browser`] : []),
    "",
    "Try it (re-running returns the same job):",
    `  ${curlLine(facts)}`,
    ...tokenLines(facts),
    "",
    ...databaseLines(facts.database),
    ...redisLines(facts.redis, facts.dlq_key),
    `Metrics:     ${facts.api_url}/metrics and ${facts.metrics_url}`,
    ...(facts.root ? ["Warning:     this process and all handlers run as root; start it as another user"] : []),
    "Stop:        Ctrl-C or SIGTERM; running jobs are finished or released. The log follows.",
    "",
  ];
  return `${lines.join("\n")}\n`;
}

/** A different key each time, so that the first paste after a start always makes a job. */
function curlLine({ api_url: url, tokens }: BannerFacts): string {
  const token = tokens ? ` -H "Authorization: Bearer $ATLASQUEUE_TOKEN"` : "";
  const key = `hello-${randomUUID().slice(0, 8)}`;
  const body = JSON.stringify({ type: "demo.echo", payload: { hello: "world" } });
  return `curl -sS ${url}/v1/jobs${token} -H 'Content-Type: application/json' -H 'Idempotency-Key: ${key}' -d '${body}'`;
}

/** The first token is made without the API. */
function tokenLines({ tokens, database }: BannerFacts): string[] {
  if (!tokens) return [];
  const where =
    database.kind === "embedded"
      ? `DATABASE_URL_FILE=${shellWord(database.url_file)}`
      : `DATABASE_URL=${shellWord(withoutPassword(database.url))}`;
  return ["Create a token first:", `  ${where} atlasqueue tokens create --name first --scopes admin`];
}

function databaseLines(database: DatabaseServer): string[] {
  const where = `Database:    ${withoutPassword(database.url)}`;
  if (database.kind === "given") return [where];
  return [
    `${where} (with its password: DATABASE_URL_FILE=${shellWord(database.url_file)})`,
    `Data:        ${database.data_dir}`,
  ];
}

function redisLines(redis: RedisServer, dlq_key = ""): string[] {
  switch (redis.kind) {
    case "given":
      return [`Redis:       ${withoutPassword(redis.url)}`, `Dead jobs:   list ${dlq_key}`];
    case "embedded":
      return [
        `Redis:       ${withoutPassword(redis.url)} (with its password: REDIS_URL_FILE=${shellWord(redis.url_file)})`,
        // In the environment: everyone on the machine can see a command line.
        `Dead jobs:   REDISCLI_AUTH=$(cat ${shellWord(redis.password_file)}) ${redis.cli} -p ${redis.port} LRANGE ${shellWord(dlq_key)} 0 -1`,
      ];
    case "none":
      return ["Redis:       not found (no redis-server or valkey-server on PATH); using in-process notifications"];
    default:
      return redis satisfies never;
  }
}

/** Several hosts are no URL to `URL`; some drivers take the password from the query; and a login may have an `@` in it. */
function withoutPassword(url: string): string {
  return url
    .replace(/^([^:]+:\/\/)([^/?#]*)@/, (_, scheme: string, login: string) => {
      const [user] = login.split(":");
      return `${scheme}${user && `${user}@`}`;
    })
    .replace(/([?&])(\w*password=[^&]*&?)+/g, "$1")
    .replace(/[?&]$/, "");
}

function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
