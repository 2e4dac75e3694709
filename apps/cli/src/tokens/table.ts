import type { Token } from "@atlasqueue/contract";

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
  const lines = [Object.keys(columns), ...tokens.map((token) => Object.values(columns).map((show) => show(token)))];
  const widths = Object.keys(columns).map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
  const text = lines.map((cells) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${text.join("\n")}\n`;
}

function minute(time: string | null): string | undefined {
  return time?.slice(0, 16).replace("T", " ");
}
