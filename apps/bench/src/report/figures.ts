import { formatFigure, formatNumber } from "./format.ts";
import type { Row } from "./result.ts";

/** A place in a page: its words with `#` for each number, and the figures that stand there. */
type Quote = { page: string; text: string; figures: readonly Name[] };
/** A scenario's figure of ours or of another variant; with a third part, what a job of it cost. */
type Name = readonly [scenario: string, variant?: string, cost?: "postgres_us"];

const single = "add, 50 callers";
const bulk = "bulk add by 1,000";
const mixed = "add and process, sustained";
const singly = "HTTP submit, 200 connections";
const batches = "HTTP batches of 1,000, 4 connections";
const group = "process, one group";
const groups = "process, 1,000 groups";
const remote = "remote: lease + settle in batches of 100";
const three = ["bullmq-durable", "pg-boss", "graphile-worker"];
const beside = (scenario: string): Name[] => [[scenario], ...three.map((variant): Name => [scenario, variant])];

const operate = "apps/docs/pages/operate";
const beyond = `${operate}/beyond-one-database.md`;
const sizing = `${operate}/sizing.md`;
const performance = "apps/docs/pages/project/performance.md";
const compare = "apps/docs/pages/compare";

/** Rows of its tables: the variant as the page names it. */
const named: [string, string][] = [
  ["AtlasQueue", "atlasqueue"],
  ["BullMQ, Redis in memory", "bullmq-memory"],
  ["BullMQ, Redis fsync", "bullmq-durable"],
  ["BullMQ on PostgreSQL", "bullmq-postgres"],
  ["pg-boss", "pg-boss"],
  ["graphile-worker", "graphile-worker"],
  ["bare SQL", "bare-sql"],
];

/** Every figure of RESULTS.md that a page repeats as it is. What sentences conclude from them is for their author. */
const quotes: readonly Quote[] = [
  { page: "README.md", text: "| add from 50 callers, jobs/s | # | # | # | # |", figures: beside(single) },
  { page: "README.md", text: "| process, jobs/s | # | # | # | # |", figures: beside("process") },
  { page: `${compare}/index.md`, text: "| add from 50 callers, jobs/s | # | # | # | # |", figures: beside(single) },
  { page: `${compare}/index.md`, text: "| bulk add by 1,000, jobs/s | # | # | # | # |", figures: beside(bulk) },
  { page: `${compare}/index.md`, text: "| process, jobs/s | # | # | # | # |", figures: beside("process") },
  {
    page: `${compare}/index.md`,
    text: "BullMQ without persistence adds # jobs per second",
    figures: [[single, "bullmq-memory"]],
  },
  {
    page: `${compare}/bullmq.md`,
    text: "# per second from 50 callers, AtlasQueue #.",
    figures: [[single, "bullmq-memory"], [single]],
  },
  {
    page: `${compare}/bullmq.md`,
    text: "# jobs per second, BullMQ # to # in the same benchmark, and # on its",
    figures: [
      ["process"],
      ...["bullmq-durable", "bullmq-memory", "bullmq-postgres"].map((one): Name => ["process", one]),
    ],
  },
  {
    page: `${compare}/pg-boss.md`,
    text: "# per second from 50 callers in our benchmark, pg-boss #. In bulk it is # and #.",
    figures: [single, bulk].flatMap((one): Name[] => [[one], [one, "pg-boss"]]),
  },
  {
    page: `${compare}/pg-boss.md`,
    text: "AtlasQueue ran # jobs per second, pg-boss #.",
    figures: [["process"], ["process", "pg-boss"]],
  },
  {
    page: "apps/docs/pages/clients/remote-workers.md",
    text: "| throughput, in the benchmark | # jobs/s | # jobs/s ¹ |",
    figures: [["process"], [remote]],
  },
  { page: sizing, text: "AtlasQueue sustained # jobs per second", figures: [[mixed]] },
  { page: sizing, text: "| jobs added and run at the same time | # per s |", figures: [[mixed]] },
  { page: sizing, text: "| HTTP submissions, one API process, singly | # per s |", figures: [[singly]] },
  { page: sizing, text: "| HTTP submissions in batches of 1,000 | # per s |", figures: [[batches]] },
  { page: sizing, text: "to run a job | about # µs |", figures: [["process", "atlasqueue", "postgres_us"]] },
  {
    page: sizing,
    text: "to add a job | # to # µs |",
    figures: ["add, 500 callers", single].map((one): Name => [one, "atlasqueue", "postgres_us"]),
  },
  { page: sizing, text: "| an idle API and worker together | # % of a core |", figures: [["idle, CPU"]] },
  { page: beyond, text: "carries a lot: # jobs per second", figures: [[mixed]] },
  { page: beyond, text: "| add and run at the same time | # |", figures: [[mixed]] },
  { page: beyond, text: "| run, from a backlog | # |", figures: [["process"]] },
  { page: beyond, text: "| run, 1,000 ordered groups | # |", figures: [[groups]] },
  { page: beyond, text: "| add, 50 callers at once | # |", figures: [[single]] },
  { page: beyond, text: "| add, 1,000 to a batch | # |", figures: [[bulk]] },
  { page: beyond, text: "| HTTP, 200 connections, singly | # |", figures: [[singly]] },
  { page: beyond, text: "| HTTP, batches of 1,000 | # |", figures: [[batches]] },
  { page: beyond, text: "| one ordered group | # |", figures: [[group]] },
  { page: beyond, text: "| one ordered group | # jobs/s |", figures: [[group]] },
  { page: beyond, text: "| an API process, singly | # requests/s |", figures: [[singly]] },
  { page: beyond, text: "- **WAL**: # jobs a second", figures: [[mixed]] },
  { page: performance, text: "adds and runs # jobs per second", figures: [[mixed]] },
  { page: performance, text: "starts a job # ms after its submission", figures: [["latency p50"]] },
  { page: performance, text: "and uses # % of a core", figures: [["idle, CPU"]] },
  ...named.map(([title, variant]): Quote => {
    const figures = [single, bulk, "process"].map((one): Name => [one, variant]);
    return { page: performance, text: `| ${title} | # | # | # |`, figures };
  }),
  { page: performance, text: "same load of # jobs per second", figures: [["same load: asked"]] },
  ...named.map(([title, variant]): Quote => {
    const times = ["latency p50", "latency p99", "same load p50", "same load p99"];
    return {
      page: performance,
      text: `| ${title} | # ms | # ms | # ms | # ms |`,
      figures: times.map((one) => [one, variant]),
    };
  }),
  { page: performance, text: "| HTTP submit, 200 connections | # jobs/s |", figures: [[singly]] },
  { page: performance, text: "| HTTP batches of 1,000, 4 connections | # jobs/s |", figures: [[batches]] },
  { page: performance, text: "| remote workers, 100 jobs in each lease | # jobs/s |", figures: [[remote]] },
  { page: performance, text: "| process, 1,000 ordered groups | # jobs/s |", figures: [[groups]] },
  { page: performance, text: "| process, one ordered group | # jobs/s |", figures: [[group]] },
  { page: performance, text: "| add and process, sustained | # jobs/s |", figures: [[mixed]] },
  {
    page: performance,
    text: "| during an open snapshot ÷ without | # |",
    figures: [["add and process: snapshot open ÷ none"]],
  },
  { page: performance, text: "| idle API and worker | # % of a core |", figures: [["idle, CPU"]] },
];

const special = /[.*+?^${}()|[\]\\]/g;
const pattern = (text: string) =>
  new RegExp(
    text.replace(special, "\\$&").replaceAll(/\s+/g, "\\s+").replaceAll("#", "(\\d+(?:,\\d{3})*(?:\\.\\d+)?)"),
    "dg",
  );

/** One place of a page: its line, what it says, and what the results say. */
type Place = { page: string; line: number; figure: string; is: string; now: string };

/**
 * The pages with the figures of these rows in their places, and each place that changes. A figure that the rows don't have
 * stays. Throws when a page has not exactly one place for a quote: then the page was rewritten, and the quote here was not.
 *
 * @example
 * const { texts, changes } = requote(rows, (file) => readFileSync(join(root, file), "utf8"));
 */
export function requote(
  rows: readonly Row[],
  read: (file: string) => string,
): { texts: Map<string, string>; changes: Place[] } {
  const texts = new Map([...new Set(quotes.map(({ page }) => page))].map((page) => [page, read(page)]));
  const changes: Place[] = [];
  for (const { page, text, figures } of quotes) {
    const before = texts.get(page) ?? "";
    const found = [...before.matchAll(pattern(text))];
    if (found.length !== 1) throw new Error(`${page} has ${found.length} places for "${text}"`);
    let after = before;
    for (const [at, name] of [...figures.entries()].toReversed()) {
      const [start = 0, end = 0] = found[0]?.indices?.[at + 1] ?? [];
      const is = before.slice(start, end);
      const now = valueOf(rows, name) ?? is;
      const line = before.slice(0, start).split("\n").length;
      if (now !== is) changes.push({ page, line, figure: name.join(", "), is, now });
      after = after.slice(0, start) + now + after.slice(end);
    }
    texts.set(page, after);
  }
  return { texts, changes };
}

function valueOf(rows: readonly Row[], [scenario, variant = "atlasqueue", cost]: Name): string | undefined {
  const row = rows.find((one) => one.scenario === scenario && one.variant === variant);
  const costs = row?.costs?.median;
  if (cost) return costs && formatNumber(Math.round(costs[cost]));
  if (row?.unit === "% of a core") return row.median.toFixed(1);
  if (row?.unit === "ms") return row.median.toFixed(row.median < 10 ? 1 : 0);
  return row && formatFigure(row.median, row.unit);
}
