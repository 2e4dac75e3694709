import { forFile } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { operationNamed } from "../test/against-document.ts";
import { ofJobs } from "../test/done-in-part/jobs.ts";
import { ofOperators } from "../test/done-in-part/operators.ts";
import { refusedAfter } from "../test/done-in-part/refused-after.ts";
import { openStage, refusals } from "../test/done-in-part/stage.ts";
import { ofOpenQueue, ofWork } from "../test/done-in-part/work.ts";
import { operations } from "./routes.ts";

const acts = { ...ofJobs, ...ofWork, ...ofOperators, ...ofOpenQueue };
const left_out = {
  leaseJobs: "what it leased goes back",
  openQueueLease: "what it leased goes back",
  mcp: "its tools ask the other operations",
  streamJobs: "each of its lines has an answer of its own",
};

const stage = forFile(openStage);
beforeEach(() => stage.clear());

/** Those that look at how much is left when their time is over, of which no table is large enough here. */
const slow = ["replayDeadLetters", "purgeDeadLetters"];
const cases = Object.entries(acts).flatMap(([act, prepare], nth) =>
  Object.entries(refusals).flatMap(([why, refusal], at) => {
    // Of the two refusals each act meets one in a change's tests, and the other at night.
    const one = { act, prepare, refusal, at_night: nth % 2 !== at };
    return [
      { ...one, why, pause_ms: 0 },
      ...(slow.includes(act) ? [{ ...one, why: `${why}, out of time`, pause_ms: 5_000 }] : []),
    ];
  }),
);
type Case = (typeof cases)[number];
const operationOf = (act: string) => act.split(" ")[0] ?? "";
/** One after the other at first, then ever fewer of those of a long act. */
const more = (statements: number) => Math.max(statements + 1, Math.floor(statements * 1.5) - 3);

const name = "the answer says what was done in part, and the audit trail has its entry: $act, when $why";
async function isTold({ act, prepare, refusal, pause_ms }: Case): Promise<void> {
  const id = operationOf(act);
  const entries = operationNamed(id).audit ? 1 : 0;
  for (let statements = 0; ; statements = more(statements)) {
    const told = await refusedAfter(stage, id, await prepare(stage), { statements, refusal, pause_ms });
    const { status, maybe_done, changed, refused } = told;
    const said = status < 300 || (status === 503 && maybe_done);
    const right = { said: true, entries };
    if (changed) expect({ ...told, said }, `refused after ${statements} more`).toMatchObject(right);
    if (refused > 0) continue;
    expect(told, "with nothing refused").toMatchObject({ changed: true });
    expect(status).toBeLessThan(300);
    return;
  }
}
test.each(cases.filter(({ at_night }) => !at_night))(name, isTold);
test.each(cases.filter(({ at_night }) => at_night))(name, { tags: ["nightly"] }, isTold);

test("every operation that changes something is among them, but for those that have another rule", () => {
  const changing = operations.filter(({ method }) => method !== "get").map(({ id }) => id);
  const known = new Set([...Object.keys(acts).map(operationOf), ...Object.keys(left_out)]);
  expect([...known].sort()).toEqual(changing.sort());
});
