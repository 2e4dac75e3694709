/**
 * The metrics pages of several processes as one: each metric is explained once, and has the lines of all of them, which
 * must differ in a label. Pages are as `registry.metrics()` writes them.
 *
 * @example
 * const page = mergeMetrics([await one.metrics(), await other.metrics()]);
 */
export function mergeMetrics(pages: readonly string[]): string {
  const all = new Map<string, string[]>();
  for (const block of pages.flatMap((page) => page.split("\n\n"))) {
    const [help = "", type = "", ...lines] = block.trim().split("\n");
    const known = all.get(type);
    if (known) known.push(...lines);
    else if (help !== "") all.set(type, [help, type, ...lines]);
  }
  return `${[...all.values()].map((lines) => lines.join("\n")).join("\n\n")}\n`;
}
