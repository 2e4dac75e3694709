import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "@atlasqueue/contract";
import { ProblemError } from "../answers/problem.ts";

/** What a cursor is valid for: a tenant's list, under a filter. Another list has another order, or other rows. */
export type CursorOf = {
  list: string;
  tenant: string;
  filter: Record<string, unknown>;
};

export type Cursors = ReturnType<typeof createCursors>;

const seal_bytes = 16;

/**
 * Cursors signed for their list, tenant and filter: one that was made up, changed or belongs to another list is refused
 * instead of showing a meaningless page. It grants no access: the tenant is checked again with every page.
 *
 * @example
 * const cursors = createCursors(await signingKey(deps, "cursors"));
 * cursors.read(of, cursors.write(of, id)); // id
 */
export function createCursors(key: Uint8Array) {
  const sealOf = ({ list, tenant, filter }: CursorOf, place: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([list, tenant, canonicalJson(filter), place]))
      .digest()
      .subarray(0, seal_bytes);

  /** Where the next page begins, as opaque text. */
  const write = (of: CursorOf, place: string): string =>
    Buffer.concat([sealOf(of, place), Buffer.from(place)]).toString("base64url");
  /** The position in a cursor of this very list; undefined for none. Throws `malformed_request` for any other text. */
  const read = (of: CursorOf, cursor: string | undefined): string | undefined => {
    if (cursor === undefined) return undefined;
    const bytes = Buffer.from(cursor, "base64url");
    const place = bytes.subarray(seal_bytes).toString();
    const seal = bytes.subarray(0, seal_bytes);
    const is_whole = seal.length === seal_bytes && bytes.toString("base64url") === cursor;
    if (is_whole && timingSafeEqual(seal, sealOf(of, place))) return place;
    throw new ProblemError(
      "malformed_request",
      "The cursor must be the next_cursor of a page before this one, of the same list with the same filter",
    );
  };
  /** Both for a list: where the page begins, and the `next_cursor` for where it ended, unless that is the list's end. */
  const page = (of: CursorOf, cursor: string | undefined) => ({
    after: read(of, cursor),
    next: (place: string | undefined) => (place === undefined ? null : write(of, place)),
  });
  return { write, read, page };
}
