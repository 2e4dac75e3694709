import { createBatcher } from "@atlasqueue/runtime";

/** How many items go in one call, and which go together. */
type Bounds<Item> = { items_max: number; fits?(first: Item, item: Item): boolean; flights_max?: number };

/**
 * A function of one item over a call for many: items that come together, or while a call is under way, share the next one.
 * `send` returns a result for each, in order, or nothing; when it rejects, so does each of its items.
 *
 * @example
 * const note = batched({ items_max: 500 }, (acts: readonly Act[]) => recordActs(deps, acts));
 * await note(act);
 */
export function batched<Item, Result = void>(
  bounds: Bounds<Item>,
  send: (items: readonly Item[]) => Promise<readonly Result[] | void>,
): (item: Item) => Promise<Result> {
  type Waiting = PromiseWithResolvers<Result> & { item: Item };
  const { fits = () => true, ...others } = bounds;
  const batcher = createBatcher<Waiting>({
    ...others,
    fits: (first, one) => fits(first.item, one.item),
    async flush(batch) {
      try {
        const results = await send(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, at) => resolve(results?.[at] as Result));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    },
  });
  return (item) => {
    const waiting = { item, ...Promise.withResolvers<Result>() };
    batcher.add(waiting);
    return waiting.promise;
  };
}
