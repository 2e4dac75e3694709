import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  useQuery,
  type QueryKey,
} from "@tanstack/react-query";
import { noteFailure, noteSuccess } from "./link.ts";
import { noteAsked, refresh_ms, usePoll } from "./refresh.ts";
import { noteRefusal } from "./session.ts";

const failed = (error: unknown) => {
  noteFailure(error);
  noteRefusal(error);
};

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: failed, onSuccess: noteSuccess }),
  mutationCache: new MutationCache({ onError: failed, onSuccess: noteSuccess }),
  defaultOptions: {
    // The next refresh is the retry. `always`: the browser's own idea of being offline is wrong for localhost.
    queries: { retry: false, networkMode: "always", staleTime: 1_000 },
    mutations: { retry: false, networkMode: "always" },
  },
});

type Live<T> = {
  key: QueryKey;
  ask: (signal: AbortSignal) => Promise<T>;
  every_ms?: number;
  /** What changes without any news of it, such as a job's progress: asked for as often as it says. */
  moves?: (data: T) => boolean;
  /** Keep what was shown until the answer to another question is there. */
  keep?: boolean;
  enabled?: boolean;
};

/** An answer that is asked for again while the page is open, unless the reader paused that. */
export function useLive<T>({ key, ask, every_ms = refresh_ms, moves, keep = false, enabled = true }: Live<T>) {
  const poll_ms = usePoll(every_ms);
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => {
      noteAsked(key);
      return ask(signal);
    },
    refetchInterval: ({ state: { data } }) =>
      poll_ms !== false && data !== undefined && moves?.(data) ? every_ms : poll_ms,
    meta: { every_ms },
    enabled,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  });
}
