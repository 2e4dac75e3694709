import { foldAll } from "../../counts/fold.ts";
import { refreshStatistics, staleTables } from "../../database/server/refresh-statistics.ts";
import { carryOnOperations } from "../../operations/step.ts";
import { advanceAllOverdue } from "../../groups/overdue.ts";
import { type DueSummary } from "../due-summary.ts";
import { createDueRound, promoteAll } from "../promote.ts";
import { expireAll } from "../expire.ts";
import { fireAll } from "../../schedules/fire-due.ts";
import { hint } from "../../signal/announce.ts";
import { type SweepDeps, takeTurn, reportFailed } from "../loop.ts";
import { createDeadLetterCheck } from "./check-dead-letters.ts";
import { createReadyRound } from "./ready-round.ts";
import { createRecovery } from "./recovery.ts";
import type { RecoveryGate } from "./recovery-gate.ts";

const statistics_ms = 10_000;

/** What a sweep is given besides the due summary: `asked` when something is due but it is not our turn. */
export type SweepMoment = { asked: boolean };
export type Swept = { fired: number; promoted: number; recovered: number; resignalled: number };

/**
 * The duties of a sweep, run concurrently until stopped. Each fails on its own, and one that takes long is left running: the next
 * sweep starts the others without it. A duty is not skipped because its part of the summary was not answered in time.
 *
 * @example
 * const swept = await createDuties(deps, discover, stop, gate).start(due, { asked: false });
 */
export function createDuties(
  deps: SweepDeps,
  discover: () => Promise<void>,
  stop: AbortSignal,
  gate: Pick<RecoveryGate, "isOpen" | "close">,
) {
  const checkDeadLetters = createDeadLetterCheck(deps);
  const goRound = createReadyRound(deps);
  const goRoundDue = createDueRound(deps);
  const recover = createRecovery(deps, gate);
  const underWay = new Set<string>();
  const operation_turn = { tenant: "" };
  let operating: Promise<void> | undefined;

  /** Resolves with nothing when it failed, or is still under way. */
  const duty = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    if (underWay.has(name)) return undefined;
    underWay.add(name);
    try {
      return await work();
    } catch (error) {
      reportFailed(deps, "sweep_failed", `sweep: ${name}`, error, { duty: name });
      return undefined;
    } finally {
      underWay.delete(name);
    }
  };
  const count = async (name: string, wanted: boolean, work: () => Promise<number>): Promise<number> =>
    (wanted && (await duty(name, work))) || 0;

  const signalAgain = async (): Promise<number> => {
    let resignalled = 0;
    await hint(deps.observe, "sweep", async () => void (resignalled = await goRound()));
    return resignalled;
  };

  const keepStatistics = async (): Promise<void> => {
    const stale = await staleTables(deps.database);
    if (stale.length > 0 && (await takeTurn(deps, "statistics", statistics_ms)))
      // Autovacuum does it too, only later.
      await refreshStatistics(deps.database, stale).catch((error: unknown) =>
        deps.logger.warn({ err: error }, "statistics_failed"),
      );
  };

  return {
    /**
     * When it is not our turn, only duties with a due time: for the rest a turn is enough, however often something
     * becomes due.
     */
    async start(due: Partial<DueSummary>, { asked }: SweepMoment): Promise<Swept> {
      const { any_queued = true, any_changes = true, newest_dead } = due;
      const { any_expired = true, any_overdue_groups = true, any_outbox = true } = due;
      const ready = any_queued && !asked;
      // It may take hours, so the sweep does not wait for it.
      if (isPast(due.operation_in_ms) && !underWay.has("operations"))
        operating = duty("operations", () => carryOnOperations(deps, stop, operation_turn));
      const [fired, promoted, recovered, resignalled] = await Promise.all([
        count("schedules", isPast(due.schedule_in_ms), () => fireAll(deps)),
        count("due jobs", isPast(due.due_in_ms), () => promoteAll(deps, goRoundDue)),
        count("leases", isPast(due.lease_check_in_ms), recover),
        count("ready jobs", ready, signalAgain),
        duty("expired jobs", async () => any_expired && (await expireAll(deps))),
        duty("tenants", async () => ready && (await discover())),
        duty("groups", async () => any_overdue_groups && (await advanceAllOverdue(deps))),
        duty("outbox", async () => any_outbox && deps.followUps.drain()),
        newest_dead !== undefined &&
          duty("dead letters", () => hint(deps.observe, "dead letters", () => checkDeadLetters(newest_dead))),
        duty("counts", async () => void (any_changes && !asked && (await foldAll(deps)))),
        // Tables grow through changes.
        duty("statistics", async () => void (any_changes && !asked && (await keepStatistics()))),
      ]);
      return { fired, promoted, recovered, resignalled };
    },
    /** Resolves when no operation is carried on any more; soon, once stopped. */
    operated: async () => operating,
  };
}

/** An unknown time may be past. */
const isPast = (in_ms: number | null | undefined) => in_ms === undefined || (in_ms !== null && in_ms <= 0);
