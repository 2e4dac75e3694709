import { pointerSegment } from "@atlasqueue/contract";
import type { ApiContext } from "./context.ts";
import { invalid } from "./problem.ts";

/** 422 for a query parameter that a route does not take: a misspelled one must not be ignored. */
export function refuseQuery(c: ApiContext): void {
  const { url } = c.req;
  const at = url.indexOf("?");
  if (at === -1) return;
  const names = [...new Set(new URLSearchParams(url.slice(at)).keys())].slice(0, 20);
  if (names.length === 0) return;
  throw invalid(
    names.map((name) => ({
      pointer: `query:${pointerSegment(name)}`,
      message: "is not a parameter of this route, which takes none",
    })),
  );
}
