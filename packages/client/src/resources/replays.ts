import type { CreateReplayInput, Replay, ReplayPage, ReplayPreview } from "@atlasqueue/contract";
import { segment, type CallOptions, type Send } from "../http/transport.ts";

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

export function replayCalls(send: Send): ReplayCalls {
  const path = "/v1/dlq/replays";
  const steer = async (id: string, verb: "pause" | "resume" | "cancel", call?: CallOptions) =>
    (await send({ method: "POST", path: `${path}/${segment(id)}/${verb}`, repeat: "always" }, call)).body as Replay;
  return {
    async preview(wish, call) {
      const body = JSON.stringify({ ...wish, dry_run: true });
      return (await send({ method: "POST", path, body, repeat: "always" }, call)).body as ReplayPreview;
    },
    async create(wish, call) {
      // Sent again after taking effect, it would be a second replay.
      const body = JSON.stringify({ ...wish, dry_run: false });
      return (await send({ method: "POST", path, body, repeat: "undone" }, call)).body as Replay;
    },
    async get(id, call) {
      return (await send({ method: "GET", path: `${path}/${segment(id)}`, repeat: "always" }, call)).body as Replay;
    },
    async list(query = {}, call) {
      return (await send({ method: "GET", path, query, repeat: "always" }, call)).body as ReplayPage;
    },
    pause: (id, call) => steer(id, "pause", call),
    resume: (id, call) => steer(id, "resume", call),
    cancel: (id, call) => steer(id, "cancel", call),
  };
}
