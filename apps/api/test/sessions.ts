import { session } from "@atlasqueue/contract";
import { expect } from "vitest";
import type { createApp } from "../src/app.ts";
import type { guardedApp } from "./guarded-app.ts";

type App = ReturnType<typeof createApp>;
type Guarded = Pick<Awaited<ReturnType<typeof guardedApp>>, "token">;

/** The dashboard's own header. */
export const own = { "x-atlasqueue-dashboard": "1" };
export const setCookie = (response: Response) => response.headers.get("set-cookie") ?? "";
/** What a browser would send back. */
export const cookieOf = (response: Response) => ({ cookie: setCookie(response).split(";")[0] ?? "" });
export const who = async (response: Response) => session.parse(await response.json());

/** What a browser asks of the API that a test uses now. */
export function sessionCalls(used: () => { app: App; api: Guarded }) {
  const call = (method: string, path: string, headers: Record<string, string> = {}, on = used().app) =>
    on.request(`http://localhost${path}`, { method, headers });
  const signIn = (token: unknown, headers: Record<string, string> = {}, on = used().app) =>
    on.request("http://localhost/v1/session", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ token }),
    });
  const signedIn = async (...scopes: Parameters<Guarded["token"]>) => {
    const made = await used().api.token(...scopes);
    const response = await signIn(made.token);
    expect(response.status).toBe(200);
    return { ...made, cookie: cookieOf(response) };
  };
  return { call, signIn, signedIn };
}
