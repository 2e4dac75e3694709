type Page<T> = { items: T[]; next_cursor: string | null };

/**
 * The items of a list, page by page.
 *
 * @example
 * const pages = await pagesOf((more) => page(`?limit=2${more}`));
 */
export async function pagesOf<T>(get: (more: string) => Promise<Page<T>>): Promise<T[][]> {
  const pages: T[][] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const { items, next_cursor }: Page<T> = await get(cursor && `&cursor=${encodeURIComponent(cursor)}`);
    pages.push(items);
    cursor = next_cursor;
  }
  return pages;
}
