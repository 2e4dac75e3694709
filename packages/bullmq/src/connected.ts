import { EventEmitter } from "node:events";
import { createClient, type Client } from "@atlasqueue/client";
import { checkOptions, NotSupportedError, type Refused } from "./options/refused.ts";

/** Where the API is, and a token if it asks for one. */
export type ConnectionOptions = { url: string; token?: string | undefined };
export type WithConnection = { connection: ConnectionOptions };

const api = 'Pass the AtlasQueue API: { url: "http://127.0.0.1:8000", token: "aq_…" }.';
export const refusedOfAll: Refused = {
  prefix: "Give each application a tenant of its own, by its token.",
  telemetry: "Use `tracing` of @atlasqueue/client.",
  settings: "Throw RetryAfterError of @atlasqueue/client to choose a delay, or run jobs with @atlasqueue/worker.",
};
/** They tune BullMQ and Redis. */
const unneeded = ["skipVersionCheck", "skipMetasUpdate", "skipWaitingForReady", "streams"];

/** The events of a class, the options that it takes, and those that it has something else for. */
type About = { events?: string; taken?: string; refused?: Refused };

/**
 * An object of BullMQ's with a client of the API. It throws for options that have no effect here, for a connection to Redis
 * and for listeners to events that it never emits. A listener that throws is an "error".
 */
export abstract class Connected<Options extends WithConnection = WithConnection> extends EventEmitter {
  readonly opts: Options;
  protected readonly api: Client;

  constructor(of: string, opts: Options, { events = "", taken = "", refused = {} }: About) {
    super();
    // BullMQ needs neither: it takes the Redis of this machine.
    const { connection, ...others } = Object(opts) as Partial<WithConnection>;
    checkOptions(others, of, [...taken.split(" "), ...unneeded], { ...refusedOfAll, ...refused });
    const { url, token } = Object(connection) as Partial<ConnectionOptions>;
    if (typeof url !== "string" || !/^https?:/.test(url)) throw new NotSupportedError("A connection to Redis", api);
    this.api = createClient(token === undefined ? { url } : { url, token });
    this.opts = opts;
    const known = [...events.split(" "), "error", "newListener", "removeListener"];
    this.on("newListener", (event) => {
      if (!known.includes(String(event)))
        throw new NotSupportedError(`The event "${String(event)}" of ${of}`, "Use logs, metrics or GET /v1/events.");
    });
  }

  override emit(event: string, ...args: unknown[]): boolean {
    try {
      return super.emit(event, ...args);
    } catch (error) {
      if (event === "newListener") throw error;
      this.report(error);
      return false;
    }
  }

  /** As in BullMQ, an error without a listener must not end the process. */
  protected report(error: unknown): void {
    if (this.listenerCount("error") > 0) super.emit("error", error);
    // oxlint-disable-next-line eslint/no-console -- trouble must not stay silent
    else console.error(error);
  }

  async waitUntilReady(): Promise<void> {}
  async close(_force?: boolean): Promise<void> {}
}
