type Limits = { batch_max: number; flushes_max: number };

/** Calls that come while others are under way share the next one: group commit in its simplest form. */
export function inBatches<Item>(
  callMany: (items: Item[]) => Promise<void>,
  { batch_max, flushes_max }: Limits,
): (item: Item) => Promise<void> {
  const waiting: { item: Item; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let flushes = 0;
  const flush = async () => {
    const batch = waiting.splice(0, batch_max);
    try {
      await callMany(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    flushes -= 1;
    kick();
  };
  const kick = () => {
    if (flushes >= flushes_max || waiting.length === 0) return;
    flushes += 1;
    setImmediate(() => void flush());
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      kick();
    });
}
