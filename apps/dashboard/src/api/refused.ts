import { useSyncExternalStore } from "react";
import { NotFoundError } from "@atlasqueue/client";
import type { QueryState } from "@tanstack/react-query";
import { queries } from "./queries.ts";

const cache = queries.getQueryCache();
const subscribe = (listener: () => void) => cache.subscribe(listener);

/**
 * Of something on the page that the API answered before and now does not, such as with a 429: what is shown of it is old. The
 * next page of a list is not that: nothing shown is older for it.
 */
export function useRefused(): QueryState | undefined {
  return useSyncExternalStore(subscribe, firstRefused);
}

function firstRefused(): QueryState | undefined {
  const refused = ({ data, error, fetchMeta }: QueryState) =>
    data !== undefined && error !== null && !(error instanceof NotFoundError) && !fetchMeta?.fetchMore;
  return cache.findAll({ type: "active" }).find(({ state }) => refused(state))?.state;
}
