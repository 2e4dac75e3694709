import { useSyncExternalStore } from "react";
import { relative } from "./format.ts";

const tick_ms = 1_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Whole seconds, and a way that takes time: a smaller difference says nothing. */
const known_within_ms = 2_000;
let ahead_ms = 0;

/** An answer's `Date`: what the pages show are times of the server's clock, and this computer's may be minutes off. */
export function noteServerTime(date: string | null): void {
  const seen_ms = Date.parse(date ?? "") - Date.now();
  if (Math.abs(seen_ms - ahead_ms) > known_within_ms) ahead_ms = seen_ms;
}

/** The time by the server's clock. */
export const serverNow = () => Date.now() + ahead_ms;

/** One timer for all the times on the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, tick_ms);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** How long ago, kept true. It renders again only when its words change. */
export function useRelative(at: string): string {
  const at_ms = Date.parse(at);
  return useSyncExternalStore(subscribe, () => relative(at_ms, serverNow()));
}

/** The time in whole steps, for spans that grow while one looks. */
export function useNow(step_ms = tick_ms): number {
  return useSyncExternalStore(subscribe, () => Math.floor(serverNow() / step_ms) * step_ms);
}
