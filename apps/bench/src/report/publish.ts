import { renderMarkdown, type Titles } from "./markdown.ts";
import { requote } from "./figures.ts";
import { quoted } from "./quotes.ts";
import type { Result } from "./result.ts";

const [begin, end] = ["<!-- figures -->", "<!-- /figures -->"];
/** As pages name what was measured; the date is missing where only the commit counts. */
const named = /(?:\d{4}-\d{2}-\d{2})?,? ?(?:at )?commit\s+`[0-9a-f]{7,10}`/g;

type Published = { texts: Map<string, string>; report: string[] };

/**
 * The pages with the figures of a commit: the tables of RESULTS.md between its two marks, the numbers that other pages
 * repeat, and in each the date and the commit. The report names each place that changes.
 *
 * @example
 * const { texts, report } = publish(result, "c759161", titles, (file) => readFileSync(join(root, file), "utf8"));
 */
export function publish(result: Result, sha: string, titles: Titles, read: (file: string) => string): Published {
  const { texts, changes } = requote(result.rows, read);
  const { results, pages } = quoted.bench;
  const date = result.started_at.slice(0, 10);
  const dated = (text: string) =>
    text.replaceAll(named, (is) => is.replace(/\d{4}-\d{2}-\d{2}/, date).replace(/`\w+`/, `\`${sha}\``));
  for (const page of pages) texts.set(page, dated(texts.get(page) ?? read(page)));
  const [before, between, after] = read(results).split(new RegExp(`${begin}|${end}`));
  if (before === undefined || between === undefined || after === undefined)
    throw new Error(`${results} has no ${begin} and ${end}`);
  const tables = renderMarkdown(result, titles).replace(/^# .*\n+/, "");
  texts.set(results, `${dated(before)}${begin}\n\n${tables}\n${end}${after}`);
  return {
    texts,
    report: changes.map(({ page, line, figure, is, now }) => `${page}:${line} ${is} → ${now} (${figure})`),
  };
}
