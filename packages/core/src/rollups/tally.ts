import { sumColumns } from "./columns.ts";
import { addTo, bucketOf, merge, type Histogram } from "./histogram.ts";

/** What happened to the jobs of one queue and type. */
export type Figures = Record<(typeof sumColumns)[number], number> & { waits: Histogram; runs: Histogram };

/** An empty queue or type stands for all of them. */
export type Rollup = Figures & { tenant: string; queue: string; type: string };

export type OfType = { tenant: string; queue: string; type: string };
export type Became = "succeeded" | "dead" | "retried";

/** Where types beyond a tenant's bound are counted. */
const other_type = "other";

/** A tenant's types kept apart: a program that makes up type names must not make rows without bound. */
const types_max = 100;
/** How long the names are remembered, so that new ones get their turn. */
const names_ms = 3_600_000;

type Tenant = { cells: Map<string, Map<string, Figures>>; types: Set<string> };

/**
 * Adds up in memory what happens to jobs, until `take`: nothing else is done where jobs are settled and submitted.
 *
 * @example
 * const tally = createTally();
 * tally.submitted({ tenant: "default", queue: "mails", type: "mail.send" });
 * const rollups = tally.take();
 */
export function createTally(now: () => number = () => performance.now()) {
  const tenants = new Map<string, Tenant>();
  let cells = 0;
  let names_from = now();

  // Jobs settled together are mostly of one queue and type: comparing names costs a fraction of looking them up.
  let last: (OfType & { figures: Figures }) | undefined;

  const figuresOf = (job: OfType): Figures => {
    if (last && last.type === job.type && last.queue === job.queue && last.tenant === job.tenant) return last.figures;
    const { tenant, queue, type } = job;
    const figures = lookUp(job);
    last = { tenant, queue, type, figures };
    return figures;
  };
  const lookUp = ({ tenant, queue, type }: OfType): Figures => {
    let mine = tenants.get(tenant);
    if (!mine) tenants.set(tenant, (mine = { cells: new Map(), types: new Set() }));
    let types = mine.cells.get(queue);
    if (!types) mine.cells.set(queue, (types = new Map()));
    const known = types.get(type);
    if (known) return known;
    const name = mine.types.has(type) || mine.types.size < types_max ? type : other_type;
    mine.types.add(name);
    const figures = types.get(name) ?? noFigures();
    if (!types.has(name)) cells += 1;
    types.set(name, figures);
    return figures;
  };

  return {
    submitted: (job: OfType, count = 1): void => void (figuresOf(job).submitted += count),
    /** An attempt ended. Its times are NaN where they are not known. */
    ended(job: OfType, became: Became, waited_ms = NaN, ran_ms = NaN): void {
      const figures = figuresOf(job);
      if (became === "succeeded") figures.succeeded += 1;
      else {
        figures.failed += 1;
        figures[became] += 1;
      }
      if (!Number.isNaN(waited_ms)) addTo(figures.waits, bucketOf(waited_ms), 1);
      if (!Number.isNaN(ran_ms)) addTo(figures.runs, bucketOf(ran_ms), 1);
    },
    /** How many queues and types it holds. */
    size: () => cells,
    /** All of it, with the sums over types and over queues. */
    take(): Rollup[] {
      const rollups = [...tenants].flatMap(([tenant, { cells: held }]) => rollUp(tenant, held));
      for (const { cells: held } of tenants.values()) held.clear();
      cells = 0;
      last = undefined;
      if (now() - names_from > names_ms) {
        names_from = now();
        tenants.clear();
      }
      return rollups;
    },
  };
}

export const noFigures = (): Figures => ({
  submitted: 0,
  succeeded: 0,
  failed: 0,
  dead: 0,
  retried: 0,
  waits: [],
  runs: [],
});

export function addFigures(into: Figures, from: Figures): void {
  for (const column of sumColumns) into[column] += from[column];
  merge(into.waits, from.waits);
  merge(into.runs, from.runs);
}

/** Each queue and type, each queue, each type, and all together. */
function rollUp(tenant: string, queues: Tenant["cells"]): Rollup[] {
  const byType = new Map<string, Rollup>();
  const whole: Rollup = { tenant, queue: "", type: "", ...noFigures() };
  const rollups: Rollup[] = [];
  for (const [queue, types] of queues) {
    const ofQueue: Rollup = { tenant, queue, type: "", ...noFigures() };
    for (const [type, figures] of types) {
      let ofType = byType.get(type);
      if (!ofType) byType.set(type, (ofType = { tenant, queue: "", type, ...noFigures() }));
      for (const sum of [ofQueue, ofType, whole]) addFigures(sum, figures);
      rollups.push({ tenant, queue, type, ...figures });
    }
    rollups.push(ofQueue);
  }
  return queues.size === 0 ? [] : [...rollups, ...byType.values(), whole];
}
