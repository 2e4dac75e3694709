import type { WorkEvent } from "@atlasqueue/client";

/** Keeps what a remote worker tells. */
export function recorder() {
  const events: WorkEvent[] = [];
  return {
    events,
    observe: (event: WorkEvent) => void events.push(event),
    named: <Name extends WorkEvent["event"]>(name: Name) =>
      events.filter((told): told is Extract<WorkEvent, { event: Name }> => told.event === name),
  };
}

/** A promise and what resolves it: a handler that ends when the test says. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
