import type { Token } from "@atlasqueue/contract";
import { textTable } from "../table.ts";

const columns: Record<string, (token: Token) => string> = {
  id: (token) => token.id,
  token: (token) => `${token.hint}…`,
  scopes: (token) => token.scopes.join(","),
  created: (token) => minute(token.created_at) ?? "",
  expires: (token) => minute(token.expires_at) ?? "never",
  "last used": (token) => minute(token.last_used_at) ?? "never",
  // Last, as it may be long or of wide letters.
  name: (token) => token.name,
};

/** A line a token under a line of headings, in columns. */
export function tokenTable(tokens: readonly Token[]): string {
  const shown = Object.values(columns);
  return textTable(
    Object.keys(columns),
    tokens.map((token) => shown.map((show) => show(token))),
  );
}

function minute(time: string | null): string | undefined {
  return time?.slice(0, 16).replace("T", " ");
}
