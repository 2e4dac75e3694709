import type { Token } from "@atlasqueue/contract";
import { second } from "../output/plain.ts";
import type { Columns } from "../output/table.ts";

const never = (time: string | null) => second(time) || "never";

export const tokenColumns: Columns<Token> = {
  id: ({ id }) => id,
  token: ({ hint }) => `${hint}…`,
  scopes: ({ scopes }) => scopes.join(","),
  created: ({ created_at }) => second(created_at),
  expires: ({ expires_at }) => never(expires_at),
  "last used": ({ last_used_at }) => never(last_used_at),
  // Last, as it may be long.
  name: ({ name }) => name,
};
