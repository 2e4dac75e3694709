import type { ExplanationCode } from "@atlasqueue/contract";
import type { LimitUse, RateUse } from "./capacity.ts";

type Reached = { code: ExplanationCode; detail: string };

/**
 * Which limits keep a ready job waiting, and what to do about each.
 *
 * @example
 * limitsReached("mails", null, { concurrency: 5, running: 5, rate: null, group_rate: null }); // [{ code: "queue_full", … }]
 */
export function limitsReached(queue: string, group: string | null, use: LimitUse): Reached[] {
  const { concurrency, running: taken, rate, group_rate } = use;
  const name = `Queue ${JSON.stringify(queue)}`;
  const reached: Reached[] = [];
  if (concurrency !== null && taken !== null && taken >= concurrency) {
    const detail = `${name} is at its concurrency limit (${concurrency}). Wait for a job to finish, or raise \`concurrency\`.`;
    reached.push({ code: "queue_full", detail });
  }
  if (rate && rate.started >= rate.limit)
    reached.push({ code: "rate_reached", detail: `${name} ${used(rate)}, or raise \`rate\`.` });
  if (group !== null && group_rate && group_rate.started >= group_rate.limit) {
    const detail = `Group ${JSON.stringify(group)} ${used(group_rate)}, or raise \`group_rate\`.`;
    reached.push({ code: "group_rate_reached", detail });
  }
  return reached;
}

function used({ limit, period_seconds, free_at_ms }: RateUse): string {
  const until = free_at_ms === null ? "its window moves on" : new Date(free_at_ms).toISOString();
  return `is at its rate limit (${limit} starts in ${period_seconds} s). Wait until ${until}`;
}
