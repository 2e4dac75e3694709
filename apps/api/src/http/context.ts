import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";

export type ApiEnv = { Bindings: Partial<HttpBindings>; Variables: { request_id: string } };
export type ApiContext = Context<ApiEnv>;

/** Node's request; there is none when `app.request()` is called without a server. */
export function incomingOf(c: ApiContext): IncomingMessage | undefined {
  // hono's own default is undefined, whatever the type of `env` says.
  const env: Partial<HttpBindings> | undefined = c.env;
  return env?.incoming;
}
