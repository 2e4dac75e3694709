import { deadLetters } from "../people/dead-letters.ts";
import { queueKeeping } from "../people/queues.ts";
import { trespass } from "../people/trespass.ts";
import type { Act } from "../submit/turn.ts";
import { batch } from "./batch.ts";
import { cancelled } from "./cancelled.ts";
import { flow } from "./flow.ts";
import { grouped } from "./grouped.ts";
import { inside } from "./inside.ts";
import { parked } from "./parked.ts";
import { sameKey } from "./same-key.ts";
import { singles } from "./singles.ts";

/** Everything that a submitter and the people at work do, each as often as its weight says. */
export const acts: readonly Act[] = [
  ...singles,
  sameKey,
  grouped,
  batch,
  flow,
  cancelled,
  inside,
  parked,
  ...deadLetters,
  ...queueKeeping,
  trespass,
];
