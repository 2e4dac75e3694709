import type { CreateOperationInput, Operation, OperationPage, OperationPreview } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

type OperationWish = Omit<CreateOperationInput, "dry_run">;

/** Operations on many jobs that go on in the background. An unknown id is a `NotFoundError`. */
export type OperationCalls = {
  /** How many jobs it would change. With the `cursor` of this count, `create` leaves jobs that were made later. */
  preview(wish: OperationWish, call?: CallOptions): Promise<OperationPreview>;
  /** Cancel, retry, delete or purge all jobs that match. Rejects with ConflictError at 20 unfinished operations. */
  create(wish: OperationWish, call?: CallOptions): Promise<Operation>;
  get(id: string, call?: CallOptions): Promise<Operation>;
  /** Bulk operations and replays, newest first, a page at a time: go on with its `next_cursor`. */
  list(page?: { limit?: number; cursor?: string }, call?: CallOptions): Promise<OperationPage>;
  /** Stop one; jobs that it has changed stay changed. Safe to repeat. Rejects with ConflictError when it is over. */
  cancel(id: string, call?: CallOptions): Promise<Operation>;
};

export function operationCalls(ask: Ask): OperationCalls {
  const at = ["operations"];
  return {
    preview: (wish, call) => ask<OperationPreview>("POST", at, call, { body: { ...wish, dry_run: true } }),
    // Sent again after taking effect, it would be a second operation.
    create: (wish, call) => ask<Operation>("POST", at, call, { body: { ...wish, dry_run: false }, repeat: "undone" }),
    get: (id, call) => ask<Operation>("GET", [...at, id], call),
    list: (query = {}, call) => ask<OperationPage>("GET", at, call, { query }),
    cancel: (id, call) => ask<Operation>("POST", [...at, id, "cancel"], call),
  };
}
