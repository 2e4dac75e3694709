import {
  ParkedError,
  storableResult,
  type Json,
  type ParentPage,
  type ParentsOfJob,
  type SignalWait,
} from "@atlasqueue/contract";
import { abort, type LazyAbort, type Sources } from "@atlasqueue/runtime";
import type { Answer, Ask } from "./messages.ts";

/**
 * A handler's step store and source of parents in its own process: they ask the worker's. `answered` takes what came
 * back.
 */
export function remoteStore(lazy: LazyAbort, send: (asked: Omit<Ask, "kind">) => void) {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(reason: Error): void }>();
  let asks = 0;
  const ask = <T>(of: Ask["of"]): Promise<T> =>
    new Promise((resolve, reject) => {
      asks += 1;
      waiting.set(asks, { resolve: resolve as (value: unknown) => void, reject });
      send({ ask: asks, of });
    });
  const steps: Sources["steps"] = {
    load: async () => new Map(await ask<[string, Json][]>({ call: "load" })),
    store: (name, result) => ask<Json>({ call: "store", name, result }),
    async park(signal, timeout_seconds) {
      const outcome = await ask<SignalWait | "parked">({ call: "park", signal, timeout_seconds });
      if (outcome === "parked") abort(lazy, new ParkedError(signal));
      return outcome;
    },
  };
  const parents: Sources["parents"] = {
    first: async () => (await ask<ParentsOfJob | null>({ call: "parents" })) ?? undefined,
    page: (cursor) => ask<ParentPage>({ call: "parents_page", after: Number(cursor ?? 0) }),
  };
  return {
    sources: { steps, parents },
    answered(number: number, answer: Answer): void {
      const asked = waiting.get(number);
      waiting.delete(number);
      if ("value" in answer) asked?.resolve(answer.value);
      else asked?.reject(Object.assign(new Error(answer.refused.message), { name: answer.refused.name }));
    },
  };
}

/** The worker's side: do what was asked for. Never rejects. */
export async function answerAsk({ steps, parents }: Sources, of: Ask["of"]): Promise<Answer> {
  try {
    switch (of.call) {
      case "load":
        return { value: [...(await steps.load())] };
      case "store": {
        const checked = storableResult(of.result);
        if (checked.kind === "refused") throw checked.reason;
        return { value: await steps.store(of.name, checked.result) };
      }
      case "park":
        return { value: await steps.park(of.signal, of.timeout_seconds) };
      case "parents":
        return { value: (await parents.first()) ?? null };
      case "parents_page":
        return { value: await parents.page(String(of.after)) };
      default:
        return of satisfies never;
    }
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { refused: { name, message } };
  }
}
