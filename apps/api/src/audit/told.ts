import type { JsonObject } from "@atlasqueue/contract";
import type { Caller } from "../http/context.ts";

/** What an operation says of a call before it is done, beyond who makes it. */
export type Asked = { target?: string | null; detail?: JsonObject };

type Chosen = { ids?: readonly string[] | undefined; [trait: string]: unknown };

/** The jobs that a bulk request means; ids are only counted. */
export const whichOf = ({ ids, ...traits }: Chosen): JsonObject =>
  ids ? { ids: ids.length } : (JSON.parse(JSON.stringify(traits)) as JsonObject);

/** What it says when it is done. */
export type Told = Asked & {
  count?: number;
  /** Where it was not known before the call. */
  caller?: Caller;
};
