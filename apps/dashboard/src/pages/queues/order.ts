import type { Queue } from "@atlasqueue/contract";

/** In which order queues are listed: by name, or those first whose oldest ready job waits longest. */
export type Order = "name" | "oldest";

/** From the address: anything else is by name. */
export function readOrder(search: Record<string, unknown>): { order?: "oldest" } {
  return search["order"] === "oldest" ? { order: "oldest" } : {};
}

/** The API gives them by name; those in which nothing waits stay so, at the end. */
export function inOrder(queues: readonly Queue[], order: Order): readonly Queue[] {
  if (order === "name") return queues;
  const since = ({ oldest_queued_at: at }: Queue) => (at === null ? Infinity : Date.parse(at));
  return queues.toSorted((a, b) => (since(a) === since(b) ? 0 : since(a) - since(b)));
}
