/** How far back the figures go. */
export const windows = [
  ["15m", "15 min"],
  ["1h", "1 h"],
  ["24h", "24 h"],
  ["30d", "30 d"],
] as const;
export type Window = (typeof windows)[number][0];

/** From the address: anything else is an hour. */
export function readWindow(search: Record<string, unknown>): { window?: Window } {
  const found = windows.find(([value]) => value === search["window"] && value !== "1h");
  return found ? { window: found[0] } : {};
}
