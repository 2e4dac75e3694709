import { createStore, type Store } from "../lib/store.ts";

/** What a reader chose for this browser, as an attribute of the page; the first value is that of a page without it. */
function choice<T extends string>(name: string, values: readonly [T, ...T[]]): [Store<T>, (chosen: T) => void] {
  const key = `atlasqueue.${name}`;
  const [standard] = values;
  const store = createStore<T>(values.find((value) => value === stored(key)) ?? standard);
  const apply = () => {
    const chosen = store.get();
    if (chosen === standard) delete document.documentElement.dataset[name];
    else document.documentElement.dataset[name] = chosen;
  };
  apply();
  const choose = (chosen: T) => {
    store.set(chosen);
    apply();
    try {
      localStorage.setItem(key, chosen);
    } catch {
      // Kept for as long as the page is open.
    }
  };
  return [store, choose];
}

/** A browser may refuse to store anything. */
function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export type Theme = "system" | "light" | "dark";
export const [theme, chooseTheme] = choice<Theme>("theme", ["system", "light", "dark"]);

/** How high the rows of lists and tables are. */
export const [density, chooseDensity] = choice("density", ["comfortable", "compact"]);
