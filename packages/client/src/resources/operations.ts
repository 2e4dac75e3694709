import type { CreateOperationInput, Operation, OperationPage, OperationPreview } from "@atlasqueue/contract";
import { segment, type CallOptions, type Send } from "../http/transport.ts";

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

export function operationCalls(send: Send): OperationCalls {
  const path = "/v1/operations";
  return {
    async preview(wish, call) {
      const body = JSON.stringify({ ...wish, dry_run: true });
      return (await send({ method: "POST", path, body, repeat: "always" }, call)).body as OperationPreview;
    },
    async create(wish, call) {
      // Sent again after taking effect, it would be a second operation.
      const body = JSON.stringify({ ...wish, dry_run: false });
      return (await send({ method: "POST", path, body, repeat: "undone" }, call)).body as Operation;
    },
    async get(id, call) {
      return (await send({ method: "GET", path: `${path}/${segment(id)}`, repeat: "always" }, call)).body as Operation;
    },
    async list(query = {}, call) {
      return (await send({ method: "GET", path, query, repeat: "always" }, call)).body as OperationPage;
    },
    async cancel(id, call) {
      const given = { method: "POST", path: `${path}/${segment(id)}/cancel`, repeat: "always" } as const;
      return (await send(given, call)).body as Operation;
    },
  };
}
