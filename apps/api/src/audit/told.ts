import type { JsonObject } from "@atlasqueue/contract";
import type { Caller } from "../http/context.ts";

/** What an operation says of a call before it is done, beyond who makes it. */
export type Asked = { target?: string | null; detail?: JsonObject };

/** What it says when it is done. */
export type Told = Asked & {
  count?: number;
  /** Where it was not known before the call. */
  caller?: Caller;
};
