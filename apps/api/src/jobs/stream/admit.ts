import { StorageFullError } from "@atlasqueue/core/internal/http";
import type { RouteDeps } from "../../route/deps.ts";
import { wishesOf, type Item, type Wish } from "./read-line.ts";

type Admitting = Pick<RouteDeps, "queueBound" | "storageQuota">;

/** Asks the tenant's bounds about lines, each for itself: those that they refuse have the reason. Rejects as the database does. */
export async function admitLines(deps: Admitting, tenant: string, items: readonly Item[]): Promise<void> {
  const wishes = wishesOf(items);
  const queueOf = ({ submission }: Wish) => submission.request.queue;
  const refused = await deps.queueBound.admitEach(tenant, wishes.map(queueOf));
  for (const wish of wishes) wish.thrown = refused.get(queueOf(wish));
  await admitToStorage(deps, tenant, wishesOf(wishes));
}

/** All together; if that is refused, in halves: a line that fits, or was stored before, is not refused for its neighbours. */
async function admitToStorage(deps: Admitting, tenant: string, wishes: readonly Wish[]): Promise<void> {
  const [first] = wishes;
  if (!first) return;
  const bytes = wishes.reduce((sum, one) => sum + one.bytes, 0);
  const keys = wishes.map(({ submission }) => submission.idempotency_key);
  try {
    return await deps.storageQuota.admit(tenant, { bytes, jobs: wishes.length, keys });
  } catch (error) {
    if (!(error instanceof StorageFullError)) throw error;
    if (wishes.length === 1) return void (first.thrown = error);
  }
  const middle = wishes.length >> 1;
  await admitToStorage(deps, tenant, wishes.slice(0, middle));
  await admitToStorage(deps, tenant, wishes.slice(middle));
}
