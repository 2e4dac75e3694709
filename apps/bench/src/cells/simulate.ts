import { chance, shuffled } from "@atlasqueue/harness/servers";

// 200 cells on paper: nothing is run. Where a number was measured, the line says where.

const cells = 200;
const tenants = 10_000;
const jobs_per_second = 480_000;
/** Half of what two cores sustained (apps/bench/RESULTS.md), as latencies grow beyond that. */
const cell_jobs_per_second = 5_100;
/** A job is submitted, leased and settled in batches of ten. */
const requests_per_second = (jobs_per_second * 3) / 10;
/** How long an API keeps where a tenant is. */
const kept_s = 2;
/** PostgreSQL's CPU for reading places by their keys, measured with pgbench: for a statement, and for each place in it. */
const [statement_s, place_s] = [17e-6, 1.2e-6];
/** An API asks home one thing at a time, for at most this many places; a round trip takes this long. */
const [asked_max, trip_s] = [500, 0.001];
/** A killed leader with Patroni (packages/deploy/RESULTS.md), once in two months; and a whole server, once in three years. */
const faults = [
  { seconds: 17, per_year: 6 },
  { seconds: 3_600, per_year: 1 / 3 },
];
/** A page of one cell, in milliseconds: the median and the slowest hundredth. Guesses. */
const page_ms = { p50: 3, p99: 30 };
const deadline_ms = 1_500;
const year_s = 365 * 86_400;

type Row = readonly [what: string, value: string];
type Table = { title: string; rows: readonly Row[] };

/**
 * What the map, the home cell and the operators' merged pages cost, and what failures and moves do. The same figures each
 * time.
 *
 * @example
 * for (const { title, rows } of simulate()) console.log(title, rows);
 */
export function simulate(): Table[] {
  const loads = zipf(1);
  return [placing(loads), moving(loads), failing(), merging(), home(loads)];
}

/** Jobs a second of each tenant, the busiest first: the n-th has the share 1 ÷ n^power. */
function zipf(power: number): number[] {
  const weights = Array.from({ length: tenants }, (_, at) => 1 / (at + 1) ** power);
  const sum = total(weights);
  return weights.map((weight) => (weight / sum) * jobs_per_second);
}

function placing(loads: readonly number[]): Table {
  const random = chance(1);
  const order = shuffled(
    random,
    loads.map((_, at) => at),
  );
  const mean = jobs_per_second / cells;
  const fullest = (place: (at: number, filled: readonly number[]) => number) => {
    const filled = fill(order, loads, place);
    return `${(Math.max(...filled) / mean).toFixed(1)} ×, ${filled.filter((one) => one > cell_jobs_per_second).length} too full`;
  };
  const giants = loads.filter((load) => load > cell_jobs_per_second);
  return {
    title: "Placing",
    rows: [
      ["the busiest tenant", `${share(loads[0] ?? 0)} of all jobs`],
      ["tenants that no cell carries alone", `${giants.length}, ${share(total(giants))} of all jobs`],
      ["fullest cell ÷ mean, by a hash", fullest(() => Math.floor(random() * cells))],
      ["fullest cell ÷ mean, to the emptiest", fullest((_, filled) => emptiest(filled))],
      ["the same without those giants", withoutGiants(loads, order)],
    ],
  };
}

function withoutGiants(loads: readonly number[], order: readonly number[]): string {
  const rest = loads.map((load) => (load > cell_jobs_per_second ? 0 : load));
  const filled = fill(order, rest, (_, now) => emptiest(now));
  return `${(Math.max(...filled) / (total(rest) / cells)).toFixed(1)} ×`;
}

/** A month in which one tenant in ten becomes four times as busy, or a quarter. How many moves until each cell carries its load? */
function moving(loads: readonly number[]): Table {
  const random = chance(2);
  const calm = loads.map((load) => (load > cell_jobs_per_second ? 0 : load));
  const where = zeros(tenants);
  const order = shuffled(random, [...calm.keys()]);
  fill(order, calm, (at, filled) => (where[at] = emptiest(filled)));
  const after = calm.map((load) => (random() < 0.1 ? load * (random() < 0.5 ? 4 : 0.25) : load));
  const filled = zeros(cells);
  after.forEach((load, at) => (filled[where[at] ?? 0] = (filled[where[at] ?? 0] ?? 0) + load));
  const before = filled.filter((one) => one > cell_jobs_per_second).length;
  let moves = 0;
  for (let full = fullestOf(filled); (filled[full] ?? 0) > cell_jobs_per_second; full = fullestOf(filled)) {
    const excess = (filled[full] ?? 0) - cell_jobs_per_second;
    const here = order.filter((at) => where[at] === full && (after[at] ?? 0) > 0);
    // The smallest tenant that is enough, or the largest there is; a cell with one tenant stays.
    const by = here.toSorted((a, b) => (after[a] ?? 0) - (after[b] ?? 0));
    const moved = by.find((at) => (after[at] ?? 0) >= excess) ?? by.at(-1);
    const to = emptiest(filled);
    const load = moved === undefined ? 0 : (after[moved] ?? 0);
    if (moved === undefined || here.length < 2 || (filled[to] ?? 0) + load >= (filled[full] ?? 0)) break;
    filled[full] = (filled[full] ?? 0) - load;
    filled[to] = (filled[to] ?? 0) + load;
    where[moved] = to;
    moves += 1;
  }
  return {
    title: "Moving",
    rows: [
      ["cells that are too full after the month", String(before)],
      ["moves until none is", `${moves}, ${percent(moves / tenants, 2)} of tenants`],
      ["tenants that outgrew a cell", String(after.filter((load) => load > cell_jobs_per_second).length)],
    ],
  };
}

function failing(): Table {
  const down_s = total(faults.map(({ seconds, per_year }) => seconds * per_year));
  const anyDown = 1 - (1 - down_s / year_s) ** cells;
  return {
    title: "Failing",
    rows: [
      ["a tenant's cell is down, a year", `${(down_s / 60).toFixed(0)} min (up ${percent(1 - down_s / year_s, 3)})`],
      ["failures of any cell, a day", ((total(faults.map(({ per_year }) => per_year)) * cells) / 365).toFixed(1)],
      ["tenants in one cell", `${tenants / cells}, ${percent(1 / cells, 1)}`],
      ["some cell is down", `${percent(anyDown, 2)} of the time`],
    ],
  };
}

/** An operator's page asks all cells, and waits for the slowest. Latencies are log-normal. */
function merging(): Table {
  const random = chance(3);
  const spread = Math.log(page_ms.p99 / page_ms.p50) / 2.326;
  const one = () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return page_ms.p50 * Math.exp(spread * normal);
  };
  const slowest = Array.from({ length: 4_000 }, () => Math.max(...Array.from({ length: cells }, one)));
  const sorted = slowest.toSorted((a, b) => a - b);
  const at = (part: number) => `${Math.min(deadline_ms, sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(0)} ms`;
  return {
    title: "Merged pages",
    rows: [
      ["one cell's page, p50 and p99", `${page_ms.p50} and ${page_ms.p99} ms`],
      ["the slowest of 200, p50 and p99", `${at(0.5)} and ${at(0.99)}`],
      ["with one cell that does not respond", `${deadline_ms} ms, its part missing`],
      ["rows read to show 50", String(cells * 50)],
    ],
  };
}

function home(loads: readonly number[]): Table {
  const cpu = (apis: number, gathered_s: number) => {
    // A place is read when it is asked for and the last reading is older than it may be.
    const places = loads.map((load) => (load / jobs_per_second) * (requests_per_second / apis));
    const read = total(places.map((rate) => 1 / (kept_s + 1 / rate)));
    const statements = Math.max(read / asked_max, Math.min(read, 1 / (trip_s + gathered_s)));
    const cores = apis * (statements * statement_s + read * place_s);
    return `${Math.round(apis * read)} per s, ${cores.toFixed(1)} cores`;
  };
  const down_s = total(faults.map(({ seconds, per_year }) => seconds * per_year));
  return {
    title: "Home",
    rows: [
      ...[25, 100, 400].map((apis): Row => [`places that ${apis} APIs read, home's CPU`, cpu(apis, 0)]),
      ["400 APIs that gather them for 10 ms", cpu(400, 0.01)],
      ["the map in memory", `${((tenants * 200) / 1e6).toFixed(0)} MB an API`],
      ["connections to each cell, 100 and 400 APIs", `${100 * 2} and ${400 * 2}`],
      ["all tenants wait for home, a year", `${(down_s / 60).toFixed(0)} min`],
    ],
  };
}

/** Jobs a second in each cell once all of these tenants have a place. */
function fill(order: readonly number[], loads: readonly number[], place: (at: number, filled: number[]) => number) {
  const filled = zeros(cells);
  for (const at of order) {
    const cell = place(at, filled);
    filled[cell] = (filled[cell] ?? 0) + (loads[at] ?? 0);
  }
  return filled;
}

const zeros = (length: number) => Array.from({ length }, () => 0);
const emptiest = (filled: readonly number[]) => filled.indexOf(Math.min(...filled));
const fullestOf = (filled: readonly number[]) => filled.indexOf(Math.max(...filled));
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
const percent = (part: number, digits: number) => `${(part * 100).toFixed(digits)} %`;
const share = (load: number) => percent(load / jobs_per_second, 0);
