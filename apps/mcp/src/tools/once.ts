import type { ActOptions } from "@atlasqueue/client";

/**
 * Do something once for a key, as the API sees to it: a repeated call, hours later and through another process too,
 * changes nothing more, and `done` is how things are.
 *
 * @example
 * const { repeated, done } = await once(context, idempotency_key, (call) => client.pause(queue, call));
 */
export async function once<T>(
  { signal }: { signal: AbortSignal },
  key: string,
  act: (call: ActOptions) => Promise<T>,
): Promise<{ repeated: boolean; done: T }> {
  let repeated = false;
  const done = await act({ signal, idempotencyKey: key, onReplayed: () => (repeated = true) });
  return { repeated, done };
}
