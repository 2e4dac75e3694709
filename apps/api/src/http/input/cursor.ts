import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "@atlasqueue/contract";
import { ProblemError } from "../answers/problem.ts";

/** What a cursor is valid for: a tenant's list, under a filter. Another list has another order, or other rows. */
export type CursorOf = {
  list: string;
  tenant: string;
  filter: Record<string, unknown>;
};

export type Cursors = {
  /** Where the next page begins, as opaque text. */
  write(of: CursorOf, place: string): string;
  /** The position in a cursor of this very list; undefined for none. Throws `malformed_request` for any other text. */
  read(of: CursorOf, cursor: string | undefined): string | undefined;
  /** Both for a list: where the page begins, and the `next_cursor` for where it ended, unless that is the list's end. */
  page(of: CursorOf, cursor: string | undefined): Page;
};

type Page = { after: string | undefined; next(place: string | undefined): string | null };

const seal_bytes = 16;

/**
 * Cursors signed for their list, tenant and filter: one that was made up, changed or belongs to another list is refused
 * instead of showing a meaningless page. It grants no access: the tenant is checked again with every page.
 *
 * @example
 * const cursors = createCursors(await signingKey(deps, "cursors"));
 * cursors.read(of, cursors.write(of, id)); // id
 */
export function createCursors(key: Uint8Array): Cursors {
  const sealOf = ({ list, tenant, filter }: CursorOf, place: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([list, tenant, canonicalJson(filter), place]))
      .digest()
      .subarray(0, seal_bytes);

  const cursors: Cursors = {
    write: (of, place) => Buffer.concat([sealOf(of, place), Buffer.from(place)]).toString("base64url"),
    read(of, cursor) {
      if (cursor === undefined) return undefined;
      const bytes = Buffer.from(cursor, "base64url");
      const place = bytes.subarray(seal_bytes).toString();
      const seal = bytes.subarray(0, seal_bytes);
      if (
        seal.length < seal_bytes ||
        bytes.toString("base64url") !== cursor ||
        !timingSafeEqual(seal, sealOf(of, place))
      )
        throw new ProblemError(
          "malformed_request",
          "The cursor must be the next_cursor of a page before this one, of the same list with the same filter",
        );
      return place;
    },
    page: (of, cursor) => ({
      after: cursors.read(of, cursor),
      next: (place) => (place === undefined ? null : cursors.write(of, place)),
    }),
  };
  return cursors;
}
