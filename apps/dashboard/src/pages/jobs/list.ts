import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import type { JobPage } from "@atlasqueue/contract";
import { client } from "../../api/client.ts";
import { noteAsked, refresh_ms, usePoll } from "../../api/refresh.ts";
import type { JobsFilter } from "./filter.ts";

export const jobsKey = ["jobs"] as const;
const page_items = 100;

/**
 * The jobs a filter finds, a page at a time. Only a list of one page is asked for again by itself: with more, rows
 * would move under the reader, who can ask for the newest ones.
 */
export function useJobs(filter: JobsFilter) {
  const poll_ms = usePoll(refresh_ms);
  const queryKey = [...jobsKey, filter];
  const ask = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }): Promise<JobPage> => {
      noteAsked(queryKey);
      return client.page(
        { ...filter, limit: page_items, ...(pageParam === null ? {} : { cursor: pageParam }) },
        { signal },
      );
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      // A page that ended before it was full took a second to find.
      return pages.length > 1 || pages[0]?.searched ? false : poll_ms;
    },
    meta: { every_ms: refresh_ms },
    placeholderData: keepPreviousData,
  });
  return ask;
}
