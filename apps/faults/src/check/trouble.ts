import type { Facts, Fault } from "./facts.ts";
import { clocks_ms, type Held } from "./leases.ts";

type Span = { from_ms: number; to_ms: number };

const overlap = (a: Span, b: Span) => a.from_ms <= b.to_ms && b.from_ms <= a.to_ms;

/** What takes the time from a process that it needs to keep its leases. */
const stopping = /^(process-(killed|frozen)|event-loop-blocked|aimed)/;
/**
 * What may have PostgreSQL forget a commit that was not to wait for the disk. It ends itself when there is no room for its
 * log.
 */
const crash = /^postgres-(stopped-at-once|killed)|^failover|^disk-full/;
/** What nothing gets through. */
const shut = /^(black-hole|answers-lost|questions-lost)$/;
/** So long after its return a server may still not be used: see guarantee 10. */
const return_ms = 10_000;

/** Whether a process was killed, frozen or blocked, or ended by itself, at some time of the span. */
export function wasHurt({ faults, lives }: Facts, process: string, span: Span): boolean {
  return (
    faults.some((one) => stopping.test(one.fault) && one.victims.includes(process) && overlap(one, span)) ||
    lives.some(
      ({ name, to_ms, code }) => name === process && code !== 0 && to_ms >= span.from_ms && to_ms <= span.to_ms,
    )
  );
}

/** Whether a remote worker's process died while it waited for this lease: an API without a processor hears of that late. */
export const diedAsking = (
  { leaseCalls, lives }: Facts,
  process: string,
  { token, from_ms }: Pick<Held, "token" | "from_ms">,
): boolean =>
  leaseCalls.some(
    (call) =>
      token !== null &&
      call.asked_under === token &&
      lives.some(
        ({ name, to_ms }) => name === process && to_ms >= call.from_ms && to_ms <= Math.min(call.to_ms, from_ms),
      ),
  );

/** Whether a server, or the way from a process to it, was in trouble then, or just before. */
export function wasCutOff({ faults }: Facts, process: string, server: RegExp, span: Span): boolean {
  const longer = { from_ms: span.from_ms - return_ms, to_ms: span.to_ms };
  return faults.some((one) => overlap(one, longer) && one.victims.some((victim) => cuts(victim, process, server)));
}

const cuts = (victim: string, process: string, server: RegExp) => {
  const [from = "", to] = victim.split(">");
  return to === undefined ? server.test(from) : from === process && server.test(to);
};

/** Whether the way from a process to PostgreSQL was shut for a third of a lease then: no lease is used or given back in time. */
export function wasShutOff(facts: Facts, process: string, span: Span): boolean {
  return lastedInLease(
    facts,
    span,
    ({ fault, victims }) => shut.test(fault) && victims.includes(`${process}>postgres`),
  );
}

/** Whether somebody wanted the table of jobs for itself for a third of a lease then: everybody else waited behind it. */
export function wereLocked(facts: Facts, span: Span): boolean {
  return lastedInLease(facts, span, ({ fault }) => fault === "jobs-locked");
}

const lastedInLease = ({ faults, settings }: Facts, span: Span, counts: (fault: Fault) => boolean) =>
  faults.some(
    (one) =>
      counts(one) && Math.min(one.to_ms, span.to_ms) - Math.max(one.from_ms, span.from_ms) > settings.lease_ms / 3,
  );

/** Whether a commit took a third of a lease then: later than that, what a claim leased must be renewed before it is used. */
export function wasSlow(facts: Facts, span: Span): boolean {
  return slowWrites(facts).some((one) => overlap(one, span));
}

const slowWrites = (facts: Facts): Span[] =>
  measured(facts, "write_ms", "postgres").filter(({ from_ms, to_ms }) => to_ms - from_ms > facts.settings.lease_ms / 3);

/** Whether a process got no processor for a third of a lease then, all its standstills together. */
export function stoodStill(facts: Facts, process: string, span: Span): boolean {
  const stood_ms = measured(facts, "standstill_ms", process)
    .filter((one) => overlap(one, span))
    .reduce((total, { from_ms, to_ms }) => total + to_ms - from_ms, 0);
  return stood_ms > facts.settings.lease_ms / 3;
}

/** Samples of how long something took, as the times it took. */
const measured = ({ samples }: Facts, what: string, whose: string): Span[] =>
  samples
    .filter(({ of, name }) => of === what && name === whose)
    .map(({ at_ms, value }) => ({ from_ms: at_ms - value, to_ms: at_ms }));

/** Whether a remote worker was told of this very lease. */
export const hadItsAnswer = ({ leaseCalls }: Facts, { token }: Pick<Held, "token">): boolean =>
  token !== null && leaseCalls.some(({ tokens }) => tokens.has(token));

/**
 * Whether a remote worker still waited for this very lease a third of it later: the first answer that had it came then, or
 * there was none to a request under its token, or to one of that time that might have had it.
 */
export function waitedLong(
  { leaseCalls, settings: { lease_ms } }: Facts,
  { worker, token, from_ms }: Pick<Held, "worker" | "token" | "from_ms">,
): boolean {
  const late_ms = from_ms + lease_ms / 3;
  const calls = leaseCalls.filter((call) => call.worker === worker);
  const its = calls.filter(({ tokens }) => token !== null && tokens.has(token));
  if (its.length > 0) return Math.min(...its.map(({ to_ms }) => to_ms)) > late_ms;
  // Told in time that nothing is leased under it, it waits for no answer.
  const told = calls.some(
    (call) => call.asked_under === token && call.known === "ok" && call.to_ms < from_ms + lease_ms,
  );
  if (told && token !== null) return false;
  // One call of a worker by hand is all of its tries, of which the last may have been answered when the lease had ended.
  const unheard = calls.filter(({ by_hand, known, to_ms }) => (by_hand || known !== "ok") && to_ms > late_ms);
  return unheard.some((call) => call.asked_under === token || call.from_ms <= from_ms + clocks_ms);
}

/**
 * Whether a remote worker that renewed this lease before it began had no answer to that a third of the lease later, however
 * often it tried: one that was answered late in its own eyes is renewed first.
 */
export function renewedLong({ renewals, settings: { lease_ms } }: Facts, { job, token, from_ms }: Held): boolean {
  const late_ms = from_ms + lease_ms / 3;
  const its = renewals.filter((one) => one.job === job && one.token === token && one.from_ms <= late_ms);
  return its.length > 0 && !its.some(({ known, to_ms }) => known === "ok" && to_ms <= late_ms);
}

/** Whether one that had no answer and gave the lease back still waited for the API's word on that a third of the lease later. */
export const givenBackLong = ({ givenBack, settings }: Facts, lease: Held): boolean =>
  givenBack.some(({ token, from_ms, to_ms }) => {
    const late_ms = lease.from_ms + settings.lease_ms / 3;
    return token === lease.token && from_ms <= late_ms && to_ms > late_ms;
  });

/**
 * Whether a remote worker gave up a request just as this lease was on its way to it: what is written to a connection that
 * the other side has just closed counts as sent.
 */
export function gaveUpThen(
  { leaseCalls, settings: { lease_ms } }: Facts,
  { worker, from_ms }: Pick<Held, "worker" | "from_ms">,
): boolean {
  return leaseCalls.some(
    (call) =>
      call.worker === worker &&
      call.known !== "ok" &&
      call.to_ms >= from_ms - clocks_ms &&
      call.to_ms <= from_ms + lease_ms / 3,
  );
}

/** So far may a standby be behind that nobody waits for: what was committed within this before a failover. */
const behind_ms_max = 3_000;

/** Whether what was committed then may be lost with a failover: only where commits did not wait for the standby. */
export function mayBeForgotten({ faults, settings }: Facts, at_ms: number): boolean {
  if (settings.synchronous !== false) return false;
  return faults.some(
    ({ fault, from_ms, to_ms }) => fault === "failover" && at_ms >= from_ms - behind_ms_max && at_ms <= to_ms,
  );
}

/** How that is counted. */
export const forgotten = "a failover lost what no standby had";

/** Whether PostgreSQL crashed then. */
export function hasCrashed({ faults }: Facts, span: Span): boolean {
  return faults.some((one) => crash.test(one.fault) && overlap(one, span));
}

/**
 * How many ms of a span some fault of these was at work, or had just been. A write that takes too long is PostgreSQL's
 * trouble too: a server that is back may still wait for its disk.
 */
export function troubledMs(facts: Facts, span: Span, counts: (fault: Fault) => boolean): number {
  const spans = [...facts.faults.filter(counts), ...slowWrites(facts)]
    .map(({ from_ms, to_ms }) => ({ from_ms, to_ms: to_ms + return_ms }))
    .filter((one) => overlap(one, span))
    .toSorted((a, b) => a.from_ms - b.from_ms);
  let total = 0;
  let until = span.from_ms;
  for (const { from_ms, to_ms } of spans) {
    const from = Math.max(from_ms, until);
    const to = Math.min(to_ms, span.to_ms);
    if (to > from) total += to - from;
    until = Math.max(until, to);
  }
  return total;
}
