import { limits, type Actor, type JsonObject, type ReplayFilter, type ReplayPreview } from "@atlasqueue/contract";
import { composed } from "../../database/composed.ts";
import type { ReplayRow } from "../../database/schema/index.ts";
import { executeOn } from "../../database/statement.ts";
import type { Deps } from "../../deps.ts";
import { newId } from "../../ids.ts";
import { byMillisecond, countDead, deadByNow } from "../count.ts";
import { readPatched } from "./patching.ts";
import { deadFilterOf } from "./rows.ts";

/** How long the dead letters are counted before a replay starts. */
const count_ms_max = 1_000;

export type ReplayWish = {
  tenant: string;
  filter: ReplayFilter;
  patch?: JsonObject | undefined;
  rate?: number | undefined;
  /** How large a patched payload may be; a job whose would be larger stays dead. Default 256 KiB. */
  payload_bytes_max?: number | undefined;
  /** Called with how many jobs there are, before anything is stored; rejects if a replay of so many may not be made. */
  admit?: ((jobs: number) => Promise<void>) | undefined;
};

/** What a replay would do: how many jobs, and what would become of the one that died first. Changes nothing. */
export async function previewReplay(deps: Deps, wish: ReplayWish): Promise<ReplayPreview> {
  const { tenant, filter, patch = null, payload_bytes_max = limits.payload_bytes_max } = wish;
  const { page, died_before } = byMillisecond(await deadByNow(deps, deadFilterOf(tenant, filter)));
  const { count, complete } = await countDead(deps, page, performance.now() + count_ms_max);
  const found =
    page && count > 0 ? await readPatched(executeOn(deps.database), page, { patch, payload_bytes_max }, 1) : undefined;
  return { matched: count, complete, ...(!filter.ids && { died_before }), sample: found?.jobs[0] ?? null };
}

/**
 * Start a replay of the dead letters there are now, which the sweep of some process carries on with within a second or so
 * (see `carryOnReplays`). Undefined when the tenant has as many unfinished ones as it may.
 *
 * @example
 * const row = await createReplay(deps, { tenant: "default", filter: { type: "mail.send" }, rate: 10 }, made_by);
 */
export async function createReplay(deps: Deps, wish: ReplayWish, made_by: Actor): Promise<ReplayRow | undefined> {
  const { tenant, filter, patch, rate, payload_bytes_max = limits.payload_bytes_max, admit } = wish;
  const page = await deadByNow(deps, deadFilterOf(tenant, filter));
  const { count, complete } = await countDead(deps, page, performance.now() + count_ms_max);
  await admit?.(count);
  const [row] = await executeOn(deps.database)<ReplayRow>({
    text: insert,
    params: [
      newId(),
      tenant,
      JSON.stringify(filter),
      patch === undefined ? "" : JSON.stringify(patch),
      rate ?? 0,
      count,
      String(complete),
      page?.until_us ?? 0,
      JSON.stringify(made_by),
      payload_bytes_max,
    ],
  });
  if (row) deps.observe({ event: "replay_changed", change: "created", tenant, replay_id: row.id });
  return row;
}

const insert = composed(
  "dead-letters/create-replay",
  [
    "id",
    "tenant",
    "filter",
    "patch",
    "rate",
    "matched",
    "matched_complete",
    "until_us",
    "made_by",
    "payload_bytes_max",
  ],
  `
  INSERT INTO dead_letter_replays (id, tenant, state, filter, patch, rate, matched, matched_complete, until_us, place,
                                   next_at, made_by, payload_bytes_max, created_at, updated_at)
  SELECT $1::text::uuid, $2, 'running', $3::text::json, nullif($4::text, '')::json, nullif($5::float8, 0), $6::int,
         $7::text::boolean, $8::float8, '{"start":true}', now(), $9::text::json, $10::int, now(), now()
  WHERE (SELECT count(*) FROM dead_letter_replays WHERE tenant = $2 AND state IN ('running', 'paused')) < ${limits.replays_max}
  RETURNING *`,
);
