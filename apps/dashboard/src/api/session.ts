import { AuthError } from "@atlasqueue/client";
import type { Scope, Session } from "@atlasqueue/contract";
import { createStore, useStore } from "../lib/store.ts";
import { client } from "./client.ts";

/** Undefined until the API has said who we are. */
export const session = createStore<Session | undefined>(undefined);

export const useSession = () => useStore(session);

export async function readSession(): Promise<void> {
  session.set(await client.session.get());
}

export async function signIn(token: string): Promise<void> {
  session.set(await client.session.open(token));
  tabs.postMessage("signed in");
}

export async function signOut(): Promise<void> {
  await client.session.close();
  await readSession();
  tabs.postMessage("signed out");
}

/** The cookie belongs to the browser: whoever signs in or out in one tab does so in all. */
const tabs = new BroadcastChannel("atlasqueue-session");

/**
 * Ask again who we are when another tab signs in or out, and when the reader comes back to this one. `onOther` is told
 * when somebody else is signed in then: what the page shows may be another tenant's.
 */
export function followTabs(onOther: (now: Session) => void): void {
  const look = async () => {
    const before = session.get();
    await readSession();
    const now = session.get();
    if (before?.token && now?.token && now.token.id !== before.token.id) onOther(now);
  };
  // An API that is away says so elsewhere; the next look asks again.
  tabs.addEventListener("message", () => void look().catch(() => {}));
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && session.get()?.auth === "required") void look().catch(() => {});
  });
}

/** A 401 in the middle of things: the session ended, or its token was revoked. */
export function noteRefusal(error: unknown): void {
  const now = session.get();
  if (error instanceof AuthError && error.status === 401 && now?.signed_in)
    session.set({ ...now, signed_in: false, scopes: [], token: null, until: null });
}

/** Whether to show what needs the scope. The server decides anyway. */
export function useMay(scope: Scope): boolean {
  const scopes = useStore(session)?.scopes ?? [];
  return scopes.includes("admin") || scopes.includes(scope);
}
