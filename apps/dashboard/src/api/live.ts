import type { Query } from "@tanstack/react-query";
import { client, session } from "./client.ts";
import { queries } from "./queries.ts";
import { askedAt, listening, paused, refresh_ms } from "./refresh.ts";

/** After a connection ended, or could not be made. The page polls meanwhile. */
const again_ms = 5_000;

/**
 * Listens to `/v1/events` while the page is in sight, and asks again for what is on it when something happened: each
 * question at most as often as it says. Hidden pages do not listen, as browsers open only six connections to a server.
 */
export function startLive(): void {
  let ending: AbortController | undefined;
  const follow = () => {
    const wanted = session.get()?.signed_in === true && !paused.get() && document.visibilityState === "visible";
    if (wanted === (ending !== undefined)) return;
    ending?.abort();
    ending = wanted ? new AbortController() : undefined;
    if (ending) void listen(ending.signal);
  };
  for (const store of [session, paused]) store.subscribe(follow);
  document.addEventListener("visibilitychange", follow);
  follow();
}

async function listen(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { event } of client.stats.events({}, { signal })) {
        if (event === "end") break;
        listening.set(true);
        note();
      }
    } catch {
      // Without events there is polling.
    }
    listening.set(false);
    if (signal.aborted) return;
    // Whether the API is still there.
    note();
    await new Promise((resolve) => setTimeout(resolve, again_ms));
  }
}

/** When something happened last. */
let news_at = -Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;

function note(): void {
  news_at = performance.now();
  refresh();
}

/** Ask again what news came for, and come back for what was asked too recently. */
function refresh(): void {
  clearTimeout(timer);
  const now = performance.now();
  let next = Infinity;
  for (const query of queries.getQueryCache().findAll({ type: "active", predicate: isLive })) {
    const asked_at = askedAt(query.queryKey);
    if (asked_at > news_at) continue;
    const due_at = asked_at + Number(query.meta?.["every_ms"] ?? refresh_ms);
    if (due_at > now) next = Math.min(next, due_at);
    else void queries.refetchQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
  }
  if (next < Infinity) timer = setTimeout(refresh, next - now);
}

/** A list of several pages is left alone: rows would move under the reader. So is one whose page took a second to find. */
function isLive({ meta, state }: Query): boolean {
  const { pages = [] } = (state.data ?? {}) as { pages?: readonly { searched?: unknown }[] };
  return meta?.["every_ms"] !== undefined && pages.length <= 1 && !pages[0]?.searched;
}
