import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import type { FlowPage } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { noteAsked, refresh_ms, slow_refresh_ms, usePoll } from "../../api/refresh.ts";
import type { FlowsFilter } from "./filter.ts";

export const flowsKey = ["flows"] as const;

/** Flows, newest first, a page at a time. With more than one, rows would move under the reader: they stand still. */
export function useFlows(filter: FlowsFilter) {
  // To find those in a state, the API counts the jobs of many that are not.
  const every_ms = filter.state === undefined ? refresh_ms : slow_refresh_ms;
  const poll_ms = usePoll(every_ms);
  const queryKey = [...flowsKey, filter];
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }): Promise<FlowPage> => {
      noteAsked(queryKey);
      return client.flows.list({ ...filter, ...(pageParam === null ? {} : { cursor: pageParam }) }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : poll_ms),
    meta: { every_ms },
    placeholderData: keepPreviousData,
  });
}
