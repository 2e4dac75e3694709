import { useSyncExternalStore } from "react";

/** A value outside of React that components can follow. */
export type Store<T> = { get(): T; set(value: T): void; subscribe(listener: () => void): () => void };

/** @example const paused = createStore(false); paused.set(true); */
export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}
