import { useSyncExternalStore } from "react";

/** How many jobs are drawn: in a picture of more, no job can be found. */
export const drawn_jobs_max = 200;

/** How the jobs of a flow are shown: drawn above their table, or as the table alone. */
export type View = "graph" | "table";

/** From the address: anything else is with the graph. */
export function readView(search: Record<string, unknown>): { view?: "table" } {
  return search["view"] === "table" ? { view: "table" } : {};
}

const wide = matchMedia("(width >= 48rem)");

/** Whether the screen has room for a graph. */
export function useRoom(): boolean {
  return useSyncExternalStore(
    (listener) => {
      wide.addEventListener("change", listener);
      return () => wide.removeEventListener("change", listener);
    },
    () => wide.matches,
  );
}
