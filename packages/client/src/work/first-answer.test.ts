import { expect, onTestFinished, test, vi } from "vitest";
import { NetworkError, NotFoundError, UnavailableError } from "../errors.ts";
import { againMs, createRepeats, firstAnswer } from "./first-answer.ts";

const problem = { type: "/problems/not-found", title: "no", status: 404, detail: "no", instance: "1" };
const cut = new NetworkError("cut", { cause: undefined, refused: false });

/** Tries that end when the test says. */
function tries() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const made: (PromiseWithResolvers<string> & { signal: AbortSignal })[] = [];
  const ask = (signal: AbortSignal) => {
    const one = Promise.withResolvers<string>();
    made.push({ ...one, signal });
    return one.promise;
  };
  return { made, ask };
}
const second = () => 1_000;
const never = new AbortController().signal;
const repeated = (ask: (signal: AbortSignal) => Promise<string>, repeats = createRepeats(() => 1), signal = never) =>
  firstAnswer(ask, second, repeats, signal);

test("a renewal is sent again after a third of what is left, and not before an API may have said that its database is away", () => {
  expect([12_000, 9_000, 7_500, 6_000, 5_000].map(againMs)).toEqual([4_000, 3_000, 2_500, 2_500, 2_500]);
});

test("one that leaves time for another when it has failed is sent alone", () => {
  expect([22_500, 12_501].map(againMs)).toEqual([Infinity, Infinity]);
});

test("a short lease has two tries nevertheless, and one that is about to end no further ones", () => {
  expect([4_000, 2_100, 1_000, 999, -1].map(againMs)).toEqual([2_000, 1_050, 500, Infinity, Infinity]);
});

test("when the first try has no answer, that to the second counts, and the first one ends", async () => {
  const { made, ask } = tries();
  const answer = repeated(ask);
  await vi.advanceTimersByTimeAsync(999);
  expect(made).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  made[1]?.resolve("second");
  expect(await answer).toBe("second");
  expect(made[0]?.signal.aborted).toBe(true);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(made).toHaveLength(2);
});

test("a slow answer counts, though it was asked for again meanwhile", async () => {
  const { made, ask } = tries();
  const answer = repeated(ask);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(made).toHaveLength(3);
  made[0]?.resolve("first");
  expect(await answer).toBe("first");
});

test("the API's refusal is an answer; a gateway's, and a broken connection, are none while another try is under way", async () => {
  const { made, ask } = tries();
  const refused = repeated(ask);
  await vi.advanceTimersByTimeAsync(2_000);
  made[1]?.reject(cut);
  made[2]?.reject(new UnavailableError("a page", { status: 503 }));
  await vi.advanceTimersByTimeAsync(0);
  const lost = new NotFoundError("no such job", { status: 404, problem });
  made[0]?.reject(lost);
  await expect(refused).rejects.toBe(lost);
});

test("a failure is told at once when nothing else is under way", async () => {
  const { made, ask } = tries();
  const failed = repeated(ask);
  made[0]?.reject(cut);
  await expect(failed).rejects.toBe(cut);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(made).toHaveLength(1);
});

test("an abort of the caller's ends all tries", async () => {
  const { made, ask } = tries();
  const stop = new AbortController();
  const stopped = repeated(
    ask,
    createRepeats(() => 1),
    stop.signal,
  );
  await vi.advanceTimersByTimeAsync(1_000);
  stop.abort(new Error("enough"));
  for (const { signal, reject } of made) reject(signal.reason);
  await expect(stopped).rejects.toThrow("enough");
  expect(made).toHaveLength(2);
});

test("what was refused for want of room, as the first try waits in the API's line, does not end that", async () => {
  const { made, ask } = tries();
  const answer = repeated(ask);
  await vi.advanceTimersByTimeAsync(2_000);
  const refusal = (status: number, kind: string) =>
    new UnavailableError("full", { status, problem: { ...problem, status, type: `/problems/${kind}` } });
  made[1]?.reject(refusal(429, "share-used"));
  made[2]?.reject(refusal(503, "no-room"));
  await vi.advanceTimersByTimeAsync(0);
  made[0]?.resolve("first");
  expect(await answer).toBe("first");
});

test("an API that answers none is not asked again for all of them, but for ten, or one in fifty of the jobs held", async () => {
  for (const [held, most] of [
    [100, 10],
    [1_000, 20],
  ] as const) {
    const { made, ask } = tries();
    const repeats = createRepeats(() => held);
    const answers = Array.from({ length: held }, () => repeated(ask, repeats));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(made).toHaveLength(held + most);
    // When one of the repeated is answered, another may be, and for each that is not within some seconds.
    made.at(-1)?.resolve("late");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(made).toHaveLength(held + most + 1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(made).toHaveLength(held + 2 * most);
    for (const one of made) one.resolve("late");
    await Promise.all(answers);
    vi.useRealTimers();
  }
});
