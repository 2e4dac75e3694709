import { createStore } from "../lib/store.ts";

/** What lies over the page. */
export type Overlay = "palette" | "keys" | undefined;

export const overlay = createStore<Overlay>(undefined);

export function openOverlay(which: Overlay): void {
  overlay.set(which);
}

/** How the key that opens the palette is written on this computer. */
export const palette_key = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘K" : "Ctrl K";
