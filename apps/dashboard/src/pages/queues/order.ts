import type { Queue, Worker } from "@atlasqueue/contract";

/** In which order queues are listed: what is wrong first, those first whose oldest ready job waits longest, or by name. */
export const orders = [
  ["wrong", "What is wrong"],
  ["oldest", "Longest wait"],
  ["name", "Name"],
] as const;
export type Order = (typeof orders)[number][0];

/** From the address: anything else is what is wrong first. */
export function readOrder(search: Record<string, unknown>): { order?: "oldest" | "name" } {
  return search["order"] === "oldest" || search["order"] === "name" ? { order: search["order"] } : {};
}

/** Whether a worker takes jobs of this queue. */
export const serves = ({ queues }: Pick<Worker, "queues">, queue: string) =>
  queues.includes(queue) || queues.includes("*");

/** Jobs are ready, and no worker that announces itself takes them. What runs has a worker over HTTP. */
export function isUnserved({ queue, counts }: Queue, workers: readonly Pick<Worker, "queues">[] | undefined): boolean {
  if (workers === undefined || counts.queued === 0 || counts.running > 0) return false;
  return !workers.some((worker) => serves(worker, queue));
}

/** The API gives them by name, and those that are alike stay so. */
export function inOrder(
  queues: readonly Queue[],
  order: Order,
  workers?: readonly Pick<Worker, "queues">[],
): readonly Queue[] {
  if (order === "name") return queues;
  const since = ({ oldest_queued_at: at }: Queue) => (at === null ? Infinity : Date.parse(at));
  const place = order === "oldest" ? since : (queue: Queue) => wrong(queue, isUnserved(queue, workers));
  return queues.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

/** The worst first. It changes seldom, so that rows stay where they are while someone reads. */
function wrong({ paused, counts }: Queue, unserved: boolean): number {
  if (unserved && !paused) return 0;
  if (paused) return 1;
  if (counts.dead > 0) return 2;
  return counts.failed > 0 ? 3 : 4;
}
