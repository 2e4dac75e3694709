import type { Database } from "../connect.ts";
import { executeOn } from "../statement.ts";
import { SignalUnavailableError, type Signal, type SignalState } from "../../signal/signal.ts";

/** `read_only`: it answers but takes no jobs: a standby, an old primary, or a setting. */
export type ServerReadiness = { postgres: "up" | "read_only" | "down"; redis: SignalState };

const asked_ms_max = 1_000;

/**
 * Whether the servers can be used: checks both for what work needs, within a second. Never rejects; concurrent callers
 * get the same answer.
 *
 * @example
 * const { postgres, redis } = await askReadiness(); // of createReadiness({ database, signal })
 */
export function createReadiness(deps: { database: Database; signal: Signal }): () => Promise<ServerReadiness> {
  let asking: Promise<ServerReadiness> | undefined;
  const ask = async (): Promise<ServerReadiness> => {
    const [postgres, redis] = await Promise.all([askPostgres(deps.database), askRedis(deps.signal)]);
    return { postgres, redis };
  };
  return () => (asking ??= ask().finally(() => (asking = undefined)));
}

/** That of a transaction, as it is what inserts would meet; a job that cannot be, as the tables must be there. */
const question = `
  SELECT current_setting('transaction_read_only') = 'on' AS read_only,
         EXISTS (SELECT FROM atlasqueue.jobs WHERE id = '00000000-0000-0000-0000-000000000000') AS known`;

/** Whatever the reason, without an answer in time we are not ready. */
async function askPostgres(database: Database): Promise<ServerReadiness["postgres"]> {
  try {
    const execute = executeOn({ ...database, timeout_ms: Math.min(database.timeout_ms, asked_ms_max) });
    const [row] = await execute<{ read_only: boolean }>({ text: question, params: [] });
    return row?.read_only ? "read_only" : "up";
  } catch {
    return "down";
  }
}

/** By a write, as a full server or a replica answers everything else. */
async function askRedis(signal: Signal): Promise<SignalState> {
  try {
    await signal.check();
    return "up";
  } catch (error) {
    if (!(error instanceof SignalUnavailableError)) throw error;
    return signal.state() === "refusing" ? "refusing" : "down";
  }
}
