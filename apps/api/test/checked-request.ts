import { expect } from "vitest";
import { firstOfStream } from "./first-of-stream.ts";
import { faultsOfAnswer, operationNamed } from "./against-document.ts";

export type Call = {
  params?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** Sent as JSON; text is sent as it is. */
  body?: unknown;
};

/** Anything that answers requests: hono's `app.request`, or `fetch` with a server's address. */
type Requestable = { request: (url: string, init?: RequestInit) => Response | Promise<Response> };

/**
 * Calls operations by name, and checks every answer against the document. It records which were called, and how they
 * answered.
 *
 * @example
 * const { call, seen } = checkedRequests(app);
 * const response = await call("getJob", 200, { params: { id } });
 */
export function checkedRequests(app: Requestable) {
  const seen = new Map<string, Set<number>>();
  const call = async (id: string, status: number, { params = {}, query, headers, body }: Call = {}) => {
    const operation = operationNamed(id);
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(params[name] ?? ""),
    );
    const search = query ? `?${new URLSearchParams(query)}` : "";
    const answered = await app.request(`http://localhost${path}${search}`, {
      method: operation.method.toUpperCase(),
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const response = await firstOfStream(answered);
    expect(response.status, `${id}: ${await response.clone().text()}`).toBe(status);
    expect(await faultsOfAnswer(operation, response), id).toEqual([]);
    seen.set(id, (seen.get(id) ?? new Set()).add(status));
    return response;
  };
  return { call, seen };
}
