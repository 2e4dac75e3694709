import type { z } from "zod";
import { exampleId, exampleKey, exampleToken } from "../src/route/examples.ts";
import { isOncePerKey, lineTypes, type Operation } from "../src/route/operation.ts";

/** Things of a tenant, by their names. */
export type Things = {
  job: string;
  lease_token: string;
  token: string;
  schedule: string;
  queue: string;
  replay: string;
  flow: string;
};

export type RequestAbout = {
  method: string;
  path: string;
  body: unknown;
  headers: Record<string, string>;
  /** It asks about a thing that is there already, and not for a new one. */
  names: "in its path" | "in its body" | "nothing";
};

/** Whose ids are in paths after their names. */
const kinds = ["token", "replay", "flow"] as const;

/** The keys requests are sent with. */
export const keysOf = (operations: readonly Operation[]): string[] => [
  exampleKey,
  ...operations.filter(({ request }) => request?.idempotency_key).map(({ id }) => id),
];

/**
 * A request to an operation that would affect these things, if they were the caller's own. It is built from the
 * operation's example, with the things' own names in it.
 *
 * @example
 * requestAbout(cancelOperation, things).path; // "/v1/jobs/01920000-…/cancel"
 */
export function requestAbout(operation: Operation, things: Things): RequestAbout {
  const { method, path, request } = operation;
  const byName: Record<string, string> = {
    id: things[kinds.find((kind) => path.includes(`/${kind}s/`)) ?? "job"],
    name: things.schedule,
    queue: things.queue,
  };
  const text = JSON.stringify(request?.body?.foreign ?? request?.body?.example);
  const body: unknown = text && JSON.parse(filled(text, things));
  // A PUT of a name makes something of the caller's own that has the same name, and most acts on a queue take any name.
  const mustBe = /\{(id|name)\}/.test(path) || (path.includes("{queue}") && operation.problems?.includes("not_found"));
  const inPath = (method !== "put" || path.includes("{id}")) && mustBe;
  const required = Object.entries(request?.query?.shape ?? {}).filter(
    ([, schema]) => !(schema as z.ZodType).safeParse(undefined).success,
  );
  // The only names that a query must have are those of queues.
  const query = required.map(([name]) => `?${name}=${things.queue}`).join("");
  return {
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => byName[name] ?? "none") + query,
    body,
    headers: {
      // An act on other things is another act, which needs a key of its own.
      ...(request?.idempotency_key && {
        "idempotency-key": isOncePerKey(operation) ? `${operation.id} ${things.job}` : operation.id,
      }),
      // One line of JSON is JSON.
      ...(request?.body?.lines && { "content-type": lineTypes[0] }),
    },
    names: inPath ? "in its path" : text?.includes(exampleId) ? "in its body" : "nothing",
  };
}

function filled(text: string, things: Things): string {
  // There is no time to wait in a test.
  const now = text.replace(/"wait_seconds":\d+/, '"wait_seconds":0');
  return now.replaceAll(exampleId, things.job).replaceAll(exampleToken, things.lease_token);
}
