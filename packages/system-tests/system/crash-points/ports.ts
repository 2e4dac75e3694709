import type { Database, Signal } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { brokenConnection, steppingDatabase } from "@atlasqueue/harness";
import { pointsOf, signalSeams, type Moment } from "./points.ts";

/** What happens at a point: the process goes on, or does not. `lost` is what an answer that never came throws. */
export type Reach = (point: string, lost: Error) => Promise<void>;

/**
 * The database and the signal through which everything goes that an engine does to the world, with a point before and
 * after each move. The engine has nothing in it for this: a process that is given these is like any other, and one that
 * is not has nothing to switch off.
 *
 * @example
 * const ports = withPoints({ database, signal }, async (point) => { if (point === "lease/claim:after_commit") process.kill(process.pid, "SIGKILL"); });
 */
export function withPoints<Ports extends { database: Database; signal: Signal }>(ports: Ports, reach: Reach): Ports {
  const reachAll = async (sent: readonly string[], moment: Moment, lost: () => Error) => {
    for (const point of pointsOf(sent, moment)) await reach(point, lost());
  };
  const database = steppingDatabase(ports.database, async (step, _number, _text, sent) => {
    if (step === "commit") await reachAll(sent, "before_commit", brokenConnection);
    if (step === "answer") await reachAll(sent, "after_commit", brokenConnection);
  });
  const { timeout_ms } = ports.database;
  // Its own deadline: how long an outage may last that a lost answer is taken for depends on it.
  return { ...ports, database: { ...database, timeout_ms }, signal: withSignalPoints(ports.signal, reach) };
}

type Call = (...given: unknown[]) => Promise<unknown>;

function withSignalPoints(signal: Signal, reach: Reach): Signal {
  const around =
    (seam: string, call: Call): Call =>
    async (...given) => {
      const lost = () => new SignalUnavailableError(`lost at ${seam}`);
      await reach(`${seam}:before`, lost());
      const answer = await call(...given);
      await reach(`${seam}:after`, lost());
      return answer;
    };
  /** A proxy, so that what the engine asks of a port is called on the port itself. */
  const pointed = <Port extends object>(port: Port, prefix: string, others: Partial<Port> = {}): Port =>
    new Proxy(port, {
      get(target, name) {
        const seam = `${prefix}${String(name)}`;
        const value = (others[name as keyof Port] ?? Reflect.get(target, name)) as unknown;
        return signalSeams.includes(seam) ? around(seam, (value as Call).bind(target)) : value;
      },
    });
  return pointed(signal, "signal/", {
    deadLetters: pointed(signal.deadLetters, "signal/deadLetters."),
    notices: pointed(signal.notices, "signal/notices."),
  });
}
