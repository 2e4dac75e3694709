import type { Repeat } from "./retry.ts";
import { segment, type ActOptions, type Call, type Send } from "./transport.ts";

type Options = Pick<Call, "query"> & {
  /** As JSON. */
  body?: unknown;
  /** `undone` where a second time would not be the same as one. Default `always`. */
  repeat?: Repeat;
};

/** `at`: the names and ids of the path after `/v1`. */
export type Ask = <Answer>(
  method: Call["method"],
  at: readonly string[],
  call: ActOptions | undefined,
  options?: Options,
) => Promise<Answer>;

/**
 * A call whose answer is its body. Rejects with a TypeError for an id that a URL would read as another path.
 */
export function createAsk(send: Send): Ask {
  return async <Answer>(
    method: Call["method"],
    at: readonly string[],
    call: ActOptions | undefined,
    { query, body, repeat = "always" }: Options = {},
  ) => {
    const path = `/v1/${at.map(segment).join("/")}`;
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return (await send({ method, path, ...(query && { query }), ...text, repeat }, call)).body as Answer;
  };
}
