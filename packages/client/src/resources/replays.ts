import type { CreateReplayInput, Replay, ReplayPage, ReplayPreview } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

type ReplayWish = Omit<CreateReplayInput, "dry_run">;

/** Replays of dead letters that go on in the background. An unknown id is a `NotFoundError`. */
export type ReplayCalls = {
  /** What a replay would do: how many jobs, and one of them with its patched payload. Changes nothing. */
  preview(wish: ReplayWish, call?: CallOptions): Promise<ReplayPreview>;
  /** Start one: paced with `rate` (jobs a second), `patch` merged into the payloads. Rejects with ConflictError at 20. */
  create(wish: ReplayWish, call?: CallOptions): Promise<Replay>;
  get(id: string, call?: CallOptions): Promise<Replay>;
  /** Newest first, a page at a time: go on with its `next_cursor`. */
  list(page?: { limit?: number; cursor?: string }, call?: CallOptions): Promise<ReplayPage>;
  /** Safe to repeat, like the two below. Each rejects with ConflictError when the replay is over. */
  pause(id: string, call?: CallOptions): Promise<Replay>;
  resume(id: string, call?: CallOptions): Promise<Replay>;
  cancel(id: string, call?: CallOptions): Promise<Replay>;
};

export function replayCalls(ask: Ask): ReplayCalls {
  const at = ["dlq", "replays"];
  return {
    preview: (wish, call) => ask<ReplayPreview>("POST", at, call, { body: { ...wish, dry_run: true } }),
    // Sent again after taking effect, it would be a second replay.
    create: (wish, call) => ask<Replay>("POST", at, call, { body: { ...wish, dry_run: false }, repeat: "undone" }),
    get: (id, call) => ask<Replay>("GET", [...at, id], call),
    list: (query = {}, call) => ask<ReplayPage>("GET", at, call, { query }),
    pause: (id, call) => ask<Replay>("POST", [...at, id, "pause"], call),
    resume: (id, call) => ask<Replay>("POST", [...at, id, "resume"], call),
    cancel: (id, call) => ask<Replay>("POST", [...at, id, "cancel"], call),
  };
}
