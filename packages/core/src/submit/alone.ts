import type { Deps } from "../deps.ts";
import { isLocked, KeysContendedError } from "../database/errors.ts";
import { isTakenMeanwhile } from "../database/refuse.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { GroupCommit } from "./group-commit.ts";
import { createLine } from "./line.ts";
import type { Wanted } from "./held.ts";

/** What one request does, with statements that wait for no lock for long. Undefined when it has to be done once more. */
type Once<Outcome> = (execute: Execute) => Promise<Outcome | undefined>;

export type AloneLine = {
  /** Resolves with the outcome. Rejects like `once`, except that what is locked is waited for. */
  run<Outcome extends object>(
    request: { tenant: string; wants: readonly Wanted[] },
    once: Once<Outcome>,
  ): Promise<Outcome>;
} & Pick<GroupCommit<never, never>, "idle" | "giveUp">;

type Request = { tenant: string; wants: readonly Wanted[]; once: Once<object>; tries: number };

/** Whose keys or parents are in others' hands so many times is refused. */
const tries_max = 20;
const rest_ms_max = 200;
/** Of those beside the line, that met a lock: they share a look at what is locked. */
const looked_at_max = 20;

/**
 * For requests whose statements are their own: many jobs, all or none. They take up at most half of the connections,
 * tenants in turn, and those that meet a lock go on beside the others until their deadline. Otherwise ten requests for
 * a group that somebody holds would have ten connections wait, and everything else wait for those.
 *
 * @example
 * const alone = createAlone(deps);
 * const outcomes = await alone.run({ tenant, wants }, (execute) => enqueueOnce(execute, deps, submissions, options));
 */
export function createAlone({ database }: Pick<Deps, "database">): AloneLine {
  const execute = executeOn(database);
  /** Undefined when it has to come again; throws when something is locked. */
  const tryOne = async (request: Request, answered: () => void): Promise<object | undefined> => {
    const telling: Execute = async (statement) => {
      const rows = await execute(statement);
      answered();
      return rows as never;
    };
    try {
      const outcome = await request.once(telling);
      if (outcome) return outcome;
    } catch (error) {
      if (!isTakenMeanwhile(error)) throw error;
    }
    request.tries += 1;
    if (request.tries >= tries_max) throw new KeysContendedError();
    return undefined;
  };

  const line = createLine<Request, object>(execute, database.timeout_ms, {
    async store(requests, answered) {
      const outcomes: (object | Promise<object> | undefined)[] = requests.map(() => undefined);
      for (const [at, request] of requests.entries())
        try {
          outcomes[at] = await tryOne(request, answered);
        } catch (error) {
          if (isLocked(error)) {
            if (at === 0) throw error;
            // What is done is done; the others come again.
            break;
          }
          // It is this one's alone.
          const failed = Promise.reject(error as Error);
          failed.catch(() => {});
          outcomes[at] = failed;
        }
      return outcomes;
    },
    wants: ({ wants }) => wants,
    weigh: () => ({ bytes: 0, rows: 1 }),
    holderOf: ({ tenant }) => tenant,
    rows_max: looked_at_max,
    first: {
      rows_max: 1,
      flights_max: Math.max(2, database.connections().max >> 1),
      takes_turns: true,
      rest_ms_max,
    },
  });
  return {
    run: async <Outcome extends object>({ tenant, wants }: Pick<Request, "tenant" | "wants">, once: Once<Outcome>) =>
      (await line.submit({ tenant, wants, once, tries: 0 }, 0)) as Outcome,
    idle: line.idle,
    giveUp: line.giveUp,
  };
}
