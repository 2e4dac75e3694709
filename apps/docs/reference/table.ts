/** A Markdown table, padded as the formatter pads it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_cell, at) => Math.max(3, ...all.map((row) => (row[at] ?? "").length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const [top = [], ...body] = all;
  return [line(top), rule, ...body.map(line)].join("\n");
}

export const code = (text: string): string => (text === "" ? "" : `\`${text}\``);
