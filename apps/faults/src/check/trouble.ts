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

/** Whether the way from a process to PostgreSQL was shut for a third of a lease then: no lease is used or given back in time. */
export function wasShutOff(facts: Facts, process: string, span: Span): boolean {
  return lastedInLease(
    facts,
    span,
    ({ fault, victims }) => shut.test(fault) && victims.includes(`${process}>postgres`),
  );
}

/** Whether a fault is one of PostgreSQL for all processes. */
export const cutsPostgresOff = ({ fault, victims }: Fault): boolean =>
  victims.includes("postgres") || fault === "all-links-cut";

/** Whether a fault of PostgreSQL, or of a process's connection to it, was at work during the span. */
export const wasCutOff = ({ faults }: Facts, process: string, span: Span): boolean =>
  faults.some((one) => overlap(one, span) && (cutsPostgresOff(one) || one.victims.includes(`${process}>postgres`)));

/** Whether the table of jobs was locked for a third of a lease then, so that all others waited. */
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

/** When the first answer was there that gave a remote worker this very lease. */
export function heardMs({ leaseCalls }: Facts, { token }: Pick<Held, "token">): number | undefined {
  const its = token === null ? [] : leaseCalls.filter(({ tokens }) => tokens.has(token));
  return its.length > 0 ? Math.min(...its.map(({ to_ms }) => to_ms)) : undefined;
}

/**
 * Whether a remote worker was answered without this lease while it lived: by a request under its token that was sent after the
 * claim, or when no other request under it may have been the one that leased.
 */
export function wasToldOtherwise({ leaseCalls, settings }: Facts, { token, from_ms, to_ms }: Held): boolean {
  const its = leaseCalls.filter(({ asked_under }) => token !== null && asked_under === token);
  const ends_ms = Math.min(to_ms, from_ms + settings.lease_ms) - clocks_ms;
  const told = its.filter((one) => one.known === "ok" && one.to_ms < ends_ms);
  return told.some((one) => one.from_ms > from_ms + clocks_ms) || (told.length > 0 && told.length === its.length);
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
