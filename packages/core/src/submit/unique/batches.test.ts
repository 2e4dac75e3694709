import type { SubmitJobInput } from "@atlasqueue/contract";
import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { enqueueAll } from "../enqueue-all.ts";
import type { EnqueueOutcome } from "../outcome.ts";
import { enqueue } from "../enqueue.ts";
import { uniqueHarness, idOf, options } from "../../../test/unique-harness.ts";

const { deps, add, finish, read, keys, jobs, countsAreTrue } = uniqueHarness();

test("within one call, a later job conflicts with an earlier one", async () => {
  const of = (unique: SubmitJobInput["unique"], payload: SubmitJobInput["payload"], key?: string) =>
    submission({ unique, payload }, key);
  const outcomes = await enqueue(
    deps,
    [
      submission({}),
      of({ key: "a" }, { n: 1 }, "k1"),
      of({ key: "a" }, { n: 2 }, "k2"),
      of({ key: "a", on_conflict: "replace" }, { n: 3 }, "k3"),
      of({ key: "a", on_conflict: "reject" }, { n: 4 }, "k4"),
      of({ key: "b" }, { n: 5 }, "k5"),
      of({ key: "b" }, { n: 5 }, "k5"),
      of({ key: "b" }, { n: 6 }, "k5"),
    ],
    options,
  );
  expect(outcomes.map(({ kind }) => kind)).toEqual([
    "created",
    "created",
    "existing",
    "replaced",
    "conflict",
    "created",
    "replayed",
    "mismatch",
  ]);
  const a = idOf(outcomes[1] as EnqueueOutcome);
  expect(outcomes.slice(1, 5).map(idOf)).toEqual([a, a, a, a]);
  expect((await read(a))?.payload).toEqual({ n: 3 });
  expect(await jobs()).toHaveLength(3);
  for (const [key, n] of [
    ["k1", 1],
    ["k2", 2],
  ] as const)
    expect((await enqueue(deps, [of({ key: "a" }, { n }, key)], options))[0]).toMatchObject({
      kind: "replayed",
      job: { id: a },
    });
  await countsAreTrue();
});

test("a batch with one refusal stores nothing", async () => {
  const first = idOf(await add({}));
  const batch = [
    submission({ unique: { key: "new" } }, "b1"),
    submission({ unique: { key: "u", on_conflict: "reject" } }, "b2"),
  ];
  expect(await enqueueAll(deps, batch, options)).toEqual({ kind: "conflict", places: [{ at: 1, job_id: first }] });
  expect(await jobs()).toEqual([first]);
  expect(await keys()).toHaveLength(1);
  await finish(first);
  expect(await enqueueAll(deps, batch, options)).toMatchObject({ kind: "stored" });
});

test("batches that share unique keys in opposite orders do not block each other", async () => {
  const names = Array.from({ length: 30 }, (_, at) => `crossed-${at}`);
  const batch = (some: string[]) =>
    enqueue(
      deps,
      some.map((key) => submission({ unique: { key } })),
      options,
    );
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => batch(at % 2 ? names : names.toReversed())));
  expect(answers.flat().filter(({ kind }) => kind === "created")).toHaveLength(30);
  expect(answers.flat().filter(({ kind }) => kind === "existing")).toHaveLength(210);
});
