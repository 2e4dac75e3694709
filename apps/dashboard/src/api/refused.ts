import { useSyncExternalStore } from "react";
import { NotFoundError } from "@atlasqueue/client";
import type { QueryState } from "@tanstack/react-query";
import { isAway } from "./link.ts";
import { queries } from "./queries.ts";

const cache = queries.getQueryCache();
const subscribe = (listener: () => void) => cache.subscribe(listener);

/** Of something on the page that the API answered before and now refuses, such as with a 429: what is shown of it is old. */
export function useRefused(): QueryState | undefined {
  return useSyncExternalStore(subscribe, firstRefused);
}

function firstRefused(): QueryState | undefined {
  const refused = ({ data, error }: QueryState) =>
    data !== undefined && error !== null && !isAway(error) && !(error instanceof NotFoundError);
  return cache.findAll({ type: "active" }).find(({ state }) => refused(state))?.state;
}
