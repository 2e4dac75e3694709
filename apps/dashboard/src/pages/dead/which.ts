import { clipped } from "../../lib/visible.ts";

/** What dead letters have in common; `error` is only for people. */
type Common = { queue?: string; type?: string; tag?: string; fingerprint?: string; error?: string };

/** Which dead letters an act is about. */
export type Which = { all: true } | { ids: string[] } | Common;

/** As the API takes it. */
export function filterOf(which: Which): { all: true } | { ids: string[] } | Omit<Common, "error"> {
  if ("all" in which || "ids" in which) return which;
  const { error: _, ...common } = which;
  return common;
}

export function nameOf(which: Which): string {
  if ("all" in which) return "all dead letters";
  if ("ids" in which) return which.ids.length === 1 ? "this dead letter" : "the chosen dead letters";
  const { error, type, queue } = which;
  const what = error === undefined ? "dead letters" : `“${clipped(error, 120)}”`;
  return `${what}${type === undefined ? "" : ` of ${type}`}${queue === undefined ? "" : ` in ${queue}`}`;
}
