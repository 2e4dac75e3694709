import { leaseMoves } from "./leases.ts";
import { peopleMoves } from "./people.ts";
import { submissionMoves } from "./submissions.ts";
import { sweepMoves } from "./sweeps.ts";

/** All of them. `complete.test.ts` sees to it that no statement that writes jobs is missing. */
export const moves = { ...leaseMoves, ...peopleMoves, ...submissionMoves, ...sweepMoves };

/** Whether two of them have anything to do with each other: two that are each about another job have not. */
export const meet = (one: { about?: string }, other: { about?: string }): boolean =>
  one.about === undefined || other.about === undefined || one.about === other.about;
