import { createStore } from "../lib/store.ts";

export type Theme = "system" | "light" | "dark";

const key = "atlasqueue.theme";

/** A browser may refuse to store anything; the system's theme is then what there is. */
function stored(): Theme {
  try {
    const text = localStorage.getItem(key);
    return text === "light" || text === "dark" ? text : "system";
  } catch {
    return "system";
  }
}

export const theme = createStore<Theme>(stored());

function apply(): void {
  const chosen = theme.get();
  if (chosen === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
}

export function chooseTheme(chosen: Theme): void {
  theme.set(chosen);
  apply();
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // Kept for as long as the page is open.
  }
}

apply();
