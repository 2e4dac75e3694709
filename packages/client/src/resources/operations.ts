import type { CreateOperationInput, Operation, OperationPage, OperationPreview } from "@atlasqueue/contract";
import type { Ask } from "../http/ask.ts";
import type { CallOptions } from "../http/transport.ts";

type OperationWish = Omit<CreateOperationInput, "dry_run">;
const at = ["operations"];

/** Operations on many jobs that go on in the background. An unknown id is a `NotFoundError`. */
export type OperationCalls = ReturnType<typeof operationCalls>;

export const operationCalls = (ask: Ask) => ({
  /** How many jobs it would change. With the `cursor` of this count, `create` leaves jobs that were made later. */
  preview: (wish: OperationWish, call?: CallOptions): Promise<OperationPreview> =>
    ask("POST", at, call, { body: { ...wish, dry_run: true } }),
  /** Cancel, retry, delete or purge all jobs that match. Rejects with ConflictError at 20 unfinished operations. */
  // Sent again after taking effect, it would be a second operation.
  create: (wish: OperationWish, call?: CallOptions): Promise<Operation> =>
    ask("POST", at, call, { body: { ...wish, dry_run: false }, repeat: "undone" }),
  get: (id: string, call?: CallOptions): Promise<Operation> => ask("GET", [...at, id], call),
  /** Bulk operations and replays, newest first, a page at a time: go on with its `next_cursor`. */
  list: (query: { limit?: number; cursor?: string } = {}, call?: CallOptions): Promise<OperationPage> =>
    ask("GET", at, call, { query }),
  /** Stop one; jobs that it has changed stay changed. Safe to repeat. Rejects with ConflictError when it is over. */
  cancel: (id: string, call?: CallOptions): Promise<Operation> => ask("POST", [...at, id, "cancel"], call),
});
