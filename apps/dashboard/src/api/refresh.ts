import type { QueryKey } from "@tanstack/react-query";
import { createStore, useStore } from "../lib/store.ts";

/** Whether the page stopped asking for news. */
export const paused = createStore(false);

/** Whether the API tells what happens as it happens, so that the page need not ask again by itself. */
export const listening = createStore(false);

/** How often a page asks again at most. */
export const refresh_ms = 2_000;
/** How often it does so without an event. */
const poll_ms = 5_000;
/** For what changes seldom, or costs more to find out; and where it hears of news, for what makes none. */
export const slow_refresh_ms = 10_000;

/** When to ask again by itself; not at all while the reader paused that. */
export function usePoll(every_ms: number): number | false {
  const still = useStore(paused);
  const is_live = useStore(listening);
  return still ? false : Math.max(every_ms, is_live ? slow_refresh_ms : poll_ms);
}

const asked = new Map<string, number>();

/** To be called when a question is asked: what happens from then on is news to it. */
export function noteAsked(key: QueryKey): void {
  asked.set(JSON.stringify(key), performance.now());
}

/** When it was asked last. */
export function askedAt(key: QueryKey): number {
  return asked.get(JSON.stringify(key)) ?? -Infinity;
}
