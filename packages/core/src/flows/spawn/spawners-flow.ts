import type { Execute } from "../../database/statement.ts";
import { newId } from "../../ids.ts";

/** Where in a flow the jobs go that a running job adds. */
export type SpawnersFlow = { flow_id: string; first_place: number; is_new: boolean };

/**
 * The flow of a job, or a new one. Its row is locked, so that two jobs of a flow that add others at once do not give
 * them the same places.
 */
export async function flowOfSpawner(
  execute: Execute,
  { tenant, flow_id }: { tenant: string; flow_id: string | null },
): Promise<SpawnersFlow> {
  if (flow_id === null) return { flow_id: newId(), first_place: 1, is_new: true };
  await execute({
    text: "SELECT FROM atlasqueue.flows WHERE tenant = $1 AND id = $2::uuid FOR UPDATE",
    params: [tenant, flow_id],
  });
  const [row] = await execute<{ first_place: number }>({ text: free, params: [flow_id] });
  return { flow_id, first_place: row?.first_place ?? 0, is_new: false };
}

const free = "SELECT coalesce(max(place) + 1, 0) AS first_place FROM atlasqueue.flow_jobs WHERE flow_id = $1::uuid";
