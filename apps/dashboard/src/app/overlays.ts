import { createStore } from "../lib/store.ts";

/** What lies over the page. */
export type Overlay = "palette" | "keys" | undefined;

export const overlay = createStore<Overlay>(undefined);

export function openOverlay(which: Overlay): void {
  overlay.set(which);
}
