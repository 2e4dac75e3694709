import { setTimeout as delay } from "node:timers/promises";
import type { History } from "../history/open-history.ts";
import type { Rig } from "../rig/rig.ts";
import { heldBy } from "./card.ts";
import { cards, type Planned } from "./plan.ts";

export type Played = Planned & { note: string | undefined };

const card_ms_max = 120_000;

/**
 * Plays the plan, each fault at its time and those of one victim one after another; resolves when all has healed, or at
 * the signal as soon as what is under way has. Each is a line of the history.
 */
export async function play(
  rig: Rig,
  planned: readonly Planned[],
  { history, tell, signal }: { history: History; tell: (line: string) => void; signal: AbortSignal },
): Promise<Played[]> {
  const turns = new Map<string, Promise<unknown>>();
  const start = performance.now();
  const playing = planned.map(async (one) => {
    await delay(one.at_ms, undefined, { signal });
    const before = turns.get(heldBy(one.victim));
    const turn = (before ?? Promise.resolve()).then(() => playOne(rig, one, history));
    turns.set(heldBy(one.victim), turn);
    tell(`${seconds(performance.now() - start)} ${one.card} ${one.victim} ${one.size}`);
    const note = await turn;
    if (note !== undefined) tell(`${seconds(performance.now() - start)} ${one.card} ${one.victim}: ${note}`);
    return { ...one, note };
  });
  const ended = await Promise.allSettled(playing);
  return ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/** Never throws: that a fault could not be played is something to report, and the run goes on. */
async function playOne(rig: Rig, one: Planned, history: History): Promise<string | undefined> {
  const card = cards.find(({ name }) => name === one.card);
  if (!card) throw new Error(`there is no card ${one.card}`);
  const { name, signal } = card;
  const fault = history.invoke("fault", { fault: name, victims: [one.victim], ...(signal && { signal }) });
  const over = new AbortController();
  try {
    const late = delay(card_ms_max, "it did not heal in time", { signal: over.signal });
    const note = (await Promise.race([card.play(rig, one), late])) ?? undefined;
    fault.ok(note === undefined ? {} : { note: note.slice(0, 500) });
    return note;
  } catch (error) {
    fault.info(error);
    return `not played: ${String(error)}`;
  } finally {
    over.abort();
  }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1).padStart(6)} s`;
