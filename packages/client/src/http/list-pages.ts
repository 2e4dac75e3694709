type Page<T> = { items: T[]; next_cursor: string | null };
type Query = Record<string, string | number | undefined>;

const page_items_default = 50;

/**
 * The items of all pages, fetched a page at a time as they are read. A page may be short, or empty, and still be
 * followed by another: only the cursor marks the end.
 */
export async function* listPages<T>(
  { limit = Infinity, pageSize = page_items_default, ...filter }: { limit?: number; pageSize?: number } = {},
  get: (query: Query) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  let cursor: string | null | undefined;
  for (let left = limit; left > 0 && cursor !== null;) {
    const page = await get({ ...filter, limit: Math.min(left, pageSize), cursor });
    yield* page.items.slice(0, left);
    left -= page.items.length;
    cursor = page.next_cursor;
  }
}
