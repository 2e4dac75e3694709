/** Whose work it is, and which of their receivers makes it. */
type Asker = { tenant: string; host: string };

export type TlsTurns = {
  /** Does the work when it is its turn, never at once. What it returns drops the work if it has not begun. */
  take(asker: Asker, work: () => void): () => void;
};

/** What a process may do in one turn of the event loop, as far as it can be known beforehand. */
const turn_ms_max = 4;
/** What a piece of an ordinary handshake takes: 1 to 2 ms, and more on a busy machine. No tenant rests for that. */
const ordinary_ms = 5;
/** Whatever takes more than is ordinary has a quarter of the event loop. */
const one_in = 4;

type Works = Set<() => void>;

/**
 * Turns for work of which a stranger decides how long it takes, and which cannot be interrupted. Tenants take turns, and
 * within a tenant its receivers, each with its oldest work first. A tenant whose work took longer than is ordinary then
 * rests, so that all such work together has a quarter of the event loop; other tenants' work goes on meanwhile. So does any
 * number of ordinary pieces, a few in each turn of the loop.
 *
 * @example
 * const drop = turns.take({ tenant, host }, () => stream.push(chunk));
 */
export function createTlsTurns(): TlsTurns {
  /** None is empty, and those whose turn is over are last. */
  const tenants = new Map<string, Map<string, Works>>();
  /** Until when a tenant rests, by `performance.now()`. */
  const rests = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let is_due = false;

  const plan = (): void => {
    clearTimeout(timer);
    if (is_due || tenants.size === 0) return;
    const until = Math.min(...[...tenants.keys()].map((tenant) => rests.get(tenant) ?? 0));
    const wait_ms = until - performance.now();
    is_due = wait_ms <= 0;
    if (is_due) setImmediate(turn);
    // The connections whose work waits keep the process running, not this.
    else timer = setTimeout(plan, wait_ms).unref();
  };
  const turn = (): void => {
    is_due = false;
    try {
      const until = performance.now() + turn_ms_max;
      while (performance.now() < until && doNext());
    } finally {
      plan();
    }
  };
  /** Whether there was any to do. */
  const doNext = (): boolean => {
    const began_at = performance.now();
    const spentMs = stopwatch();
    for (const [tenant, until] of rests) if (until <= began_at) rests.delete(tenant);
    for (const [tenant, hosts] of tenants) {
      if (rests.has(tenant)) continue;
      // To the end, behind the others that wait.
      const work = first(hosts);
      tenants.delete(tenant);
      if (hosts.size > 0) tenants.set(tenant, hosts);
      work();
      const more_ms = spentMs() - ordinary_ms;
      // All that rest share the quarter.
      if (more_ms > 0) rests.set(tenant, performance.now() + more_ms * ((rests.size + 1) * one_in - 1));
      return true;
    }
    return false;
  };

  return {
    take({ tenant, host }, work) {
      const hosts = tenants.get(tenant) ?? new Map<string, Works>();
      const works: Works = hosts.get(host) ?? new Set();
      tenants.set(tenant, hosts.set(host, works.add(work)));
      plan();
      return () => {
        if (!works.delete(work) || works.size > 0) return;
        hosts.delete(host);
        if (hosts.size === 0) tenants.delete(tenant);
      };
    },
  };
}

/**
 * What was done since, in milliseconds: neither the time for which the process stood still, as in a container that has used up
 * its share of the processor, nor what its other threads did meanwhile.
 */
function stopwatch(): () => number {
  const began_at = performance.now();
  const began = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(began);
    return Math.min(performance.now() - began_at, (user + system) / 1_000);
  };
}

/** The oldest work of the receiver whose turn it is, which goes behind the others. */
function first(hosts: Map<string, Works>): () => void {
  for (const [host, works] of hosts)
    for (const work of works) {
      works.delete(work);
      hosts.delete(host);
      if (works.size > 0) hosts.set(host, works);
      return work;
    }
  throw new Error("no work waits for this tenant");
}
