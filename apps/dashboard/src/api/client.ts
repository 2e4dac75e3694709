import { createCalls } from "@atlasqueue/client";
import type { Session } from "@atlasqueue/contract";
import { noteServerTime } from "../lib/clock.ts";
import { base } from "../base.ts";
import { createStore } from "../lib/store.ts";

/** Undefined until the API has said who we are. */
export const session = createStore<Session | undefined>(undefined);

/**
 * The API this page came from. The browser adds the session's cookie by itself; the header, which no other site's page
 * can send, is what makes the API accept a change from a cookie. No retries: the page asks again anyway, and says so.
 */
export const client = createCalls({
  url: base,
  headers: { "x-atlasqueue-dashboard": "1" },
  retries: 0,
  fetch: async (input, init) => {
    const answer = await fetch(input, {
      ...init,
      headers: { ...headersOf(init), ...asWhom(String(input), init?.method) },
    });
    noteServerTime(answer.headers.get("date"));
    return answer;
  },
});

/** The user of this page. Another tab may have signed in as another user, and the cookie is then theirs. */
function asWhom(url: string, method = "GET"): Record<string, string> {
  const token = session.get()?.token;
  // Except to ask who is signed in now, and to sign in.
  return token && !(url.endsWith("/v1/session") && method !== "DELETE") ? { "x-atlasqueue-token-id": token.id } : {};
}

const headersOf = (init: RequestInit | undefined) => Object.fromEntries(new Headers(init?.headers));
