import { type JobStatus } from "@atlasqueue/contract";
import { type Real } from "../real.ts";
import { held, inOrder, type Model } from "../state.ts";

/** One choice after another: a number below `below`, always the same for the same command. */
export type Draw = (below: number) => number;
/** What happens, on both sides; throws when the answers differ. */
export type Act = (model: Model, real: Real, draw: Draw) => Promise<void>;

export const queues = ["plain", "other"];
export const workers = ["w1", "w2"];
export const one = <T>(draw: Draw, of: readonly T[]): T => of[draw(of.length)] as T;
export const some = <T>(draw: Draw, of: readonly T[], max: number): T[] =>
  of.length === 0 ? [] : [...new Set(Array.from({ length: 1 + draw(max) }, () => one(draw, of)))];
/** One of those an act is for, and now and then any other. */
const rather = <T>(draw: Draw, meant: readonly T[], all: readonly T[]): T | undefined => {
  const of = meant.length > 0 && draw(6) > 0 ? meant : all;
  return of.length > 0 ? one(draw, of) : undefined;
};
const several = <T>(draw: Draw, meant: readonly T[], all: readonly T[], max: number): T[] => [
  ...new Set(Array.from({ length: 1 + draw(max) }, () => rather(draw, meant, all)).filter((n) => n !== undefined)),
];
/** Jobs in one of these statuses, rather than any that ever was. */
export const jobsIn = (model: Model, draw: Draw, max: number, ...statuses: readonly JobStatus[]): number[] => {
  const meant = inOrder(model.jobs.values()).filter(({ status }) => statuses.includes(status));
  const numbers = meant.map(({ n }) => n);
  return several(draw, numbers, [...Array(model.next.job).keys()], max);
};
/** Leases that are held, rather than any that ever was; of each job one. */
export const someLeases = (model: Model, draw: Draw, max: number) => {
  const meant = model.leases.filter((lease) => held(model, lease));
  const chosen = several(draw, meant, model.leases, max);
  return chosen.filter(({ job }, at) => chosen.findIndex((other) => other.job === job) === at);
};
