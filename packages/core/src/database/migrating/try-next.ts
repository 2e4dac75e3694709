import { executeIn } from "../caller-transaction.ts";
import type postgres from "../driver.ts";
import { pause } from "../../pause.ts";
import type { Sent } from "../server/cancel-late.ts";
import type { SchemaName } from "../schema/name.ts";
import { sentWhole, type Execute, type Statement } from "../statement.ts";
import { appliedMigrations, isOfJournal, missingJournal, noteApplied, type Migration } from "./journal.ts";
import type { Watch } from "./connect.ts";
import { inTheWay, waitingLine, type InTheWay } from "./in-the-way.ts";
import { takeTurn } from "./take-turn.ts";
import { waitForStandby } from "./wait-for-standby.ts";

export type Outcome =
  | { kind: "complete" }
  | { kind: "applied" }
  | { kind: "not_our_turn" }
  | { kind: "held_up"; at: string; by: readonly InTheWay[] }
  | { kind: "silent" };

/** `begun` once something was missing. */
export type Try = {
  begun: boolean;
  rest_ms: number;
  patient: boolean;
  lock_ms: number;
  say: (line: string) => void;
  stop: AbortSignal | undefined;
  watch: Watch;
  schema: SchemaName;
};

/** A pooler may end a transaction that is silent for longer. */
const silent_ms = 1_000;
/** A statement that is still under way after this long may be waiting for others. */
const look_ms = 250;

/**
 * Applies the first one that is missing, in a transaction of its own. The lock that gives the turn lives in it, and what is
 * missing is read under it: whoever loses the one has lost the other.
 */
export async function tryNext(
  sql: postgres.Sql,
  migrations: readonly Migration[],
  { begun, rest_ms, patient, lock_ms, say, stop, watch, schema }: Try,
): Promise<Outcome> {
  let at = "";
  let by: readonly InTheWay[] = [];
  const silences = watch.silences();
  const work = (query: Query, look: Look) => watch.unhurried(() => watched(query, look, stop));
  try {
    if (!(await firstMissing(executeIn(sql, schema), migrations, schema))) {
      if (begun) await waitForStandby(sql, (query, line) => work(query, async () => say(line)));
      return { kind: "complete" };
    }
    // Explicit, as under another default the journal would be read as it was before the turn.
    return await sql.begin("isolation level read committed", async (tx): Promise<Outcome> => {
      const [turn] = await tx.unsafe<{ pid: number; taken: boolean }[]>(takeTurn(patient, lock_ms));
      if (!turn?.taken) return { kind: "not_our_turn" };
      // With the turn, so that however many migrate, a table is asked for by one; and with nothing else.
      await restIn(tx, jittered(rest_ms), stop);
      const execute = executeWhole(tx, schema);
      const next = await firstMissing(execute, migrations, schema);
      if (!next) return { kind: "applied" };
      const look: Look = async (isOver) => {
        const found = await inTheWay(sql, turn.pid).catch(() => []);
        // Later, they are in the way of whoever has that process of the server's then.
        if (found.length === 0 || isOver()) return;
        by = found;
        say(waitingLine(at, found));
      };
      const run = async (statements: readonly string[]) => {
        for (const statement of statements) {
          stop?.throwIfAborted();
          at = schema.fill(statement);
          await work(tx.unsafe(at), look);
        }
      };
      await run(await missingJournal(execute, schema));
      await run(next.sql);
      await noteApplied(execute, next);
      return { kind: "applied" };
    });
  } catch (error) {
    stop?.throwIfAborted();
    // What became of it is read anew, and if that was the commit, of that too.
    if (watch.silences() > silences) return { kind: "silent" };
    if (!isHeldUp(error, at)) throw error;
    return { kind: "held_up", at, by };
  }
}

type Query = postgres.PendingQuery<postgres.Row[]>;
type Look = (isOver: () => boolean) => Promise<void>;

/** The server would wait for the second half of a statement without counting as idle. */
function executeWhole(tx: postgres.TransactionSql, { fill }: SchemaName): Execute {
  const how = { ...sentWhole, prepare: false };
  return async <Row>({ text, params }: Statement) =>
    (await tx.unsafe(fill(text), [...params], how)) as unknown as readonly Row[];
}

async function restIn(tx: postgres.TransactionSql, rest_ms: number, stop: AbortSignal | undefined): Promise<void> {
  for (let left = rest_ms; left > 0; left -= silent_ms) {
    await pause(Math.min(left, silent_ms), stop);
    stop?.throwIfAborted();
    await tx.unsafe("SELECT 1");
  }
}

/** Looks once when it takes long, and ends it on the server at the abort, which would go on with it unheard. */
async function watched(query: Query, look: Look, stop?: AbortSignal): Promise<void> {
  let over = false;
  const timer = setTimeout(() => void look(() => over), look_ms);
  const cancel = () => void (query as unknown as Sent).canceller?.(query).catch(() => {});
  stop?.addEventListener("abort", cancel, { once: true });
  try {
    await query;
  } finally {
    over = true;
    clearTimeout(timer);
    stop?.removeEventListener("abort", cancel);
  }
}

async function firstMissing(
  execute: Execute,
  migrations: readonly Migration[],
  schema: SchemaName,
): Promise<Migration | undefined> {
  const last = (await appliedMigrations(execute, migrations, schema)).at(-1)?.made_at ?? 0;
  return migrations.find(({ folderMillis }) => folderMillis > last);
}

export const jittered = (ms: number) => ms * (1 + Math.random() / 4);

/** It waited too long for a lock, or lost in a deadlock; or somebody made the same schema meanwhile. */
const isHeldUp = (error: unknown, at: string): boolean =>
  (isOfJournal(at) ? /^(55P03|40P01|23505|42P06|42P07)$/ : /^(55P03|40P01)$/).test(
    String((error as { code?: unknown }).code),
  );
