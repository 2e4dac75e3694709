import type { ApiContext } from "../context.ts";

/** The path as it was sent, without the query. `c.req.path` is decoded as far as it can be. */
export function rawPath(c: ApiContext): string {
  const { url } = c.req;
  const start = url.indexOf("/", url.indexOf(":") + 3);
  const query = url.indexOf("?", start);
  return query === -1 ? url.slice(start) : url.slice(start, query);
}
