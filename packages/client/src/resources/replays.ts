import type { CreateReplayInput, Replay, ReplayPage, ReplayPreview } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

type ReplayWish = Omit<CreateReplayInput, "dry_run">;
const at = ["dlq", "replays"];

/** Replays of dead letters that go on in the background. An unknown id is a `NotFoundError`. */
export type ReplayCalls = ReturnType<typeof replayCalls>;

export const replayCalls = (ask: Ask) => ({
  /** What a replay would do: how many jobs, and one of them with its patched payload. Changes nothing. */
  preview: (wish: ReplayWish, call?: CallOptions): Promise<ReplayPreview> =>
    ask("POST", at, call, { body: { ...wish, dry_run: true } }),
  /** Start one: paced with `rate` (jobs a second), `patch` merged into the payloads. Rejects with ConflictError at 20. */
  // Sent again after taking effect, it would be a second replay.
  create: (wish: ReplayWish, call?: CallOptions): Promise<Replay> =>
    ask("POST", at, call, { body: { ...wish, dry_run: false }, repeat: "undone" }),
  get: (id: string, call?: CallOptions): Promise<Replay> => ask("GET", [...at, id], call),
  /** Newest first, a page at a time: go on with its `next_cursor`. */
  list: (query: { limit?: number; cursor?: string } = {}, call?: CallOptions): Promise<ReplayPage> =>
    ask("GET", at, call, { query }),
  /** Safe to repeat, like the two below. Each rejects with ConflictError when the replay is over. */
  pause: (id: string, call?: CallOptions): Promise<Replay> => ask("POST", [...at, id, "pause"], call),
  resume: (id: string, call?: CallOptions): Promise<Replay> => ask("POST", [...at, id, "resume"], call),
  cancel: (id: string, call?: CallOptions): Promise<Replay> => ask("POST", [...at, id, "cancel"], call),
});
