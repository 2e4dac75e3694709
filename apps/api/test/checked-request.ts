import { expect } from "vitest";
import { operationNamed } from "./against-document.ts";

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
 * Calls operations by name, with a status that is expected.
 *
 * @example
 * const response = await callsOf(app)("getJob", 200, { params: { id } });
 */
export const callsOf =
  (app: Requestable) =>
  async (id: string, status: number, { params = {}, query, headers, body }: Call = {}): Promise<Response> => {
    const operation = operationNamed(id);
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(params[name] ?? ""),
    );
    const search = query ? `?${new URLSearchParams(query)}` : "";
    const response = await app.request(`http://localhost${path}${search}`, {
      method: operation.method.toUpperCase(),
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    expect(response.status, `${id}: ${await response.clone().text()}`).toBe(status);
    return response;
  };
