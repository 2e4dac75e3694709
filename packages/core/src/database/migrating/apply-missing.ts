import { pause } from "../../pause.ts";
import type postgres from "../driver.ts";
import { unwatched, type Watch } from "./connect.ts";
import { allNew, onlyVacuum, waitingLine, type InTheWay } from "./in-the-way.ts";
import { onceAMinute } from "./once-a-minute.ts";
import type { Migration } from "./journal.ts";
import { schemaNamed, type SchemaName } from "../schema/name.ts";
import { jittered, tryNext } from "./try-next.ts";

export type MigrateOptions = {
  /** Aborted: ends what is under way, which is rolled back, and rejects with its reason. */
  stop?: AbortSignal | undefined;
  /** Called with a line that says what the migration waits for, at most once a minute with the same line. */
  tell?: ((line: string) => void) | undefined;
};

/**
 * Who waits for a table has everybody who comes later wait behind it. Longer each time where those in the way come and go,
 * as some of them always have it, and all end soon; but below the deadline of an API's statements, 1.5 seconds.
 */
const lock_ms_min = 500;
const lock_ms_max = 1_200;
/** Between two tries the others pass. Longer each time, as a transaction that has stayed is likely to stay. */
const rest_ms_min = 1_000;
const rest_ms_max = 4_000;
const turn_ms = 250;

/**
 * Does what drizzle's migrator does, but each file has a transaction of its own, where drizzle has one for all: it would
 * hold each table it has changed until the last one is, and the version that runs meanwhile takes them in another order.
 * What goes wrong stops there, and the next try goes on.
 *
 * A file that others hold up is rolled back whole and tried again, for as long as it takes. Once all are applied, it waits
 * until the synchronous standby has them, if there was something to do.
 */
export async function applyMissing(
  sql: postgres.Sql,
  migrations: readonly Migration[],
  {
    stop,
    tell,
    watch = unwatched,
    schema = schemaNamed(),
  }: MigrateOptions & { watch?: Watch; schema?: SchemaName } = {},
): Promise<void> {
  const say = onceAMinute(tell);
  let begun = false;
  let rest_ms = 0;
  let patient = false;
  let lock_ms = lock_ms_min;
  let before: readonly InTheWay[] = [];
  for (;;) {
    const outcome = await tryNext(sql, migrations, { begun, rest_ms, patient, lock_ms, say, stop, watch, schema });
    begun = true;
    switch (outcome.kind) {
      case "complete":
        return;
      case "applied":
        rest_ms = 0;
        patient = false;
        lock_ms = lock_ms_min;
        break;
      case "not_our_turn":
        say("another process is migrating this database; waiting for its end");
        await pause(jittered(turn_ms), stop);
        break;
      case "held_up":
        if (outcome.by.length === 0) say(waitingLine(outcome.at, []));
        rest_ms = Math.min(Math.max(rest_ms * 2, rest_ms_min), rest_ms_max);
        patient = onlyVacuum(outcome.by);
        lock_ms = allNew(outcome.by, before) ? Math.min(2 * lock_ms, lock_ms_max) : lock_ms_min;
        if (outcome.by.length > 0) before = outcome.by;
        break;
      case "silent":
        say("the database did not answer; connecting anew");
        break;
      default:
        outcome satisfies never;
    }
    stop?.throwIfAborted();
  }
}
