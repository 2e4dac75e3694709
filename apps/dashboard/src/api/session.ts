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
}

export async function signOut(): Promise<void> {
  await client.session.close();
  await readSession();
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
