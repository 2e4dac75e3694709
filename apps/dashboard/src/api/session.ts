import { AuthError } from "@atlasqueue/client";
import type { Scope, Session } from "@atlasqueue/contract";
import { useStore } from "../lib/store.ts";
import { client, session } from "./client.ts";

export const useSession = () => useStore(session);

export async function readSession(): Promise<void> {
  session.set(await client.session.get());
}

export async function signIn(token: string): Promise<void> {
  session.set(await client.session.open(token));
  tabs.postMessage("signed in");
}

/** Only from the session that this page shows: another tab may have signed in as another user, who stays signed in. */
export async function signOut(): Promise<void> {
  await client.session.close().catch((error: unknown) => {
    if (!(error instanceof AuthError)) throw error;
  });
  await look();
  tabs.postMessage("signed out");
}

/** The cookie belongs to the browser: a sign-in or sign-out in one tab is one in all. */
const tabs = new BroadcastChannel("atlasqueue-session");

/**
 * Ask again who we are when another tab signs in or out, when the reader comes back to this one, and at a 401 in the middle
 * of things. `onOther` is called if another user is signed in then: what the page shows may be another tenant's.
 */
export function followTabs(onOther: (now: Session) => void): void {
  tellOther = onOther;
  tabs.addEventListener("message", lookAgain);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && session.get()?.auth === "required") lookAgain();
  });
}

let tellOther: (now: Session) => void = () => {};
let looking = false;
let again = false;

/** What happens during a look is seen by another one. An API that is away says so elsewhere; the next look asks again. */
function lookAgain(): void {
  again = true;
  if (looking) return;
  looking = true;
  void (async () => {
    while (again) {
      again = false;
      await look().catch(() => {});
    }
    looking = false;
  })();
}

async function look(): Promise<void> {
  const before = session.get();
  await readSession();
  const now = session.get();
  if (before?.token && now?.token && now.token.id !== before.token.id) tellOther(now);
}

/** A 401: the session ended, its token was revoked, or another tab is signed in as another user. */
export function noteRefusal(error: unknown): void {
  if (error instanceof AuthError && error.status === 401 && session.get()?.signed_in) lookAgain();
}

/** Whether to show what needs the scope. The server decides anyway. */
export function useMay(scope: Scope): boolean {
  const scopes = useStore(session)?.scopes ?? [];
  return scopes.includes("admin") || scopes.includes(scope);
}
