import { useMutation, type QueryKey } from "@tanstack/react-query";
import { toast } from "../app/toasts.ts";
import { wordsOf } from "./link.ts";
import { queries } from "./queries.ts";

type Act<Input, Output> = {
  send: (input: Input) => Promise<Output>;
  /** What the page shows at once, before the answer: a change to what is in the cache. */
  expect?: (input: Input) => readonly Change[];
  /** Shown when it is done; nothing when the page itself shows it. */
  done?: (output: Output, input: Input) => string | undefined;
  /** What could not be done, for "Could not …: reason". */
  what: string;
  /** Questions whose answers may have changed. */
  touches: readonly QueryKey[];
};

type Change = { key: QueryKey; to: (before: never) => unknown };

/** An act that shows at once and rolls back, with the reason, when it is refused. */
export function useAct<Input, Output>({ send, expect, done, what, touches }: Act<Input, Output>) {
  return useMutation({
    mutationFn: send,
    async onMutate(input: Input) {
      const undo: (readonly [QueryKey, unknown])[] = [];
      for (const { key, to } of expect?.(input) ?? []) {
        // An answer under way would overwrite what is expected.
        await queries.cancelQueries({ queryKey: key });
        for (const [found, before] of queries.getQueriesData({ queryKey: key })) {
          undo.push([found, before]);
          if (before !== undefined) queries.setQueryData(found, to(before as never));
        }
      }
      return undo;
    },
    onError(error, _input, undo) {
      for (const [key, before] of undo ?? []) queries.setQueryData(key, before);
      toast({ tone: "bad", text: `Could not ${what}: ${wordsOf(error)}` });
    },
    onSuccess(output, input) {
      const text = done?.(output, input);
      if (text !== undefined) toast({ tone: "good", text });
    },
    onSettled: () => void Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
}
