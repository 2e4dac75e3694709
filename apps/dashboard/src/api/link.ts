import { AtlasQueueError, NetworkError, TimeoutError, UnavailableError } from "@atlasqueue/client";
import { createStore } from "../lib/store.ts";

/** Whether the API answers: `since` when it stopped, and what it last said. */
export type Link = { up: true } | { up: false; since: number; reason: string };

export const link = createStore<Link>({ up: true });

/** Called with every failure; only those that mean "away" count. */
export function noteFailure(error: unknown): void {
  if (!isAway(error)) return;
  const before = link.get();
  const reason = error instanceof UnavailableError ? "The database is unavailable" : "The API doesn't respond";
  if (before.up || before.reason !== reason)
    link.set({ up: false, since: before.up ? Date.now() : before.since, reason });
}

export function noteSuccess(): void {
  if (!link.get().up) link.set({ up: true });
}

export function isAway(error: unknown): boolean {
  return error instanceof NetworkError || error instanceof TimeoutError || error instanceof UnavailableError;
}

/** What an error says to a person, without the request it came from. */
export function wordsOf(error: unknown): string {
  if (error instanceof AtlasQueueError && error.problem) {
    const { title, detail, errors = [] } = error.problem;
    const faults = errors.map(({ pointer, message }) => `${pointer.replace(/^\//, "") || "it"} ${message}`);
    return faults.length > 0 ? faults.join("; ") : detail || title;
  }
  if (error instanceof TimeoutError) return "No response in time";
  if (error instanceof NetworkError) return "The API doesn't respond";
  return error instanceof Error ? error.message : String(error);
}
