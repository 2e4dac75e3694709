import { createStore } from "../lib/store.ts";

/** What lies over the page; its code is fetched when it is first opened. */
export type Overlay = "palette" | "keys" | undefined;

export const overlay = createStore<Overlay>(undefined);

export function openOverlay(which: Overlay): void {
  overlay.set(which);
}
