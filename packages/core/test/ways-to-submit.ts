import type { QueueJob } from "../src/queue.ts";

/** Every way a job can ask for something another job may want too, and one that asks for nothing. */
export const waysToSubmit: Readonly<Record<string, QueueJob>> = {
  plain: { type: "noop" },
  key: { type: "noop", idempotency_key: "shared" },
  group: { type: "noop", group: "shared" },
  "unique, return": { type: "noop", unique: { key: "shared" } },
  "unique, reject": { type: "noop", unique: { key: "shared", on_conflict: "reject" } },
  "unique, replace": { type: "noop", unique: { key: "shared", on_conflict: "replace" } },
  "unique in a group": { type: "noop", group: "shared", unique: { key: "in-group", on_conflict: "replace" } },
  "unique in a window, with a key": {
    type: "noop",
    idempotency_key: "windowed",
    unique: { key: "window", scope: "window", window_seconds: 60 },
  },
};
