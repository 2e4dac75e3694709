import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { Caller } from "../access/caller.ts";
import type { Access } from "../access/requires.ts";
import type { Gate } from "./gate.ts";
import type { Turns } from "./body/turns.ts";

export type ApiEnv = {
  Bindings: Partial<HttpBindings>;
  Variables: {
    request_id: string;
    access: Access;
    /** Room for bodies while they come. */
    bodies: Gate;
    /** Who parses a large one now. */
    turns: Turns;
    /** Set by `requires`. */
    caller: Caller | undefined;
    /** What the answer says about the rate limit, where there is one. */
    limit_headers: Record<string, string> | undefined;
  };
};
export type ApiContext = Context<ApiEnv>;

/** Node's request; there is none when `app.request()` is called without a server. */
export function incomingOf(c: ApiContext): IncomingMessage | undefined {
  // hono's own default is undefined, whatever the type of `env` says.
  const env: Partial<HttpBindings> | undefined = c.env;
  return env?.incoming;
}
