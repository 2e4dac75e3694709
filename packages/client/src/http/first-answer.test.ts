import { expect, test, vi } from "vitest";
import { fakeClock } from "../../test/fake-clock.ts";
import { NetworkError, NotFoundError, UnavailableError } from "../errors.ts";
import { createRepeats, firstAnswer } from "./first-answer.ts";

const problem = { type: "/problems/not-found", title: "no", status: 404, detail: "no", instance: "1" };
const cut = new NetworkError("cut", { cause: undefined, refused: false });

/** Tries that end when the test says. */
function tries() {
  fakeClock();
  const made: (PromiseWithResolvers<string> & { signal: AbortSignal })[] = [];
  const ask = (signal: AbortSignal) => {
    const one = Promise.withResolvers<string>();
    made.push({ ...one, signal });
    return one.promise;
  };
  return { made, ask };
}
const soon = () => 1_000;
const never = new AbortController().signal;
const repeated = (ask: (signal: AbortSignal) => Promise<string>, repeats = createRepeats(() => 4), signal = never) =>
  firstAnswer(ask, soon, repeats, signal);

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

test("of the calls that an API leaves without an answer no more are sent again than there are places", async () => {
  const { made, ask } = tries();
  const repeats = createRepeats(() => 4);
  const answers = Array.from({ length: 100 }, () => repeated(ask, repeats));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(made).toHaveLength(104);
  // Each that is not answered keeps its place for some seconds.
  await vi.advanceTimersByTimeAsync(1_600);
  expect(made).toHaveLength(108);
  for (const one of made) one.resolve("late");
  await Promise.all(answers);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(made).toHaveLength(108);
});

test("where later tries are answered before the first, twice as many have places each time", async () => {
  const { made, ask } = tries();
  const repeats = createRepeats(() => 4);
  const answered = (signal: AbortSignal) => {
    const answer = ask(signal);
    const one = made.at(-1);
    // The network has swallowed the first ones.
    if (made.length > 100) setTimeout(() => one?.resolve("again"), 300);
    return answer;
  };
  const answers = Array.from({ length: 100 }, () => repeated(answered, repeats));
  const sent: number[] = [];
  await vi.advanceTimersByTimeAsync(1_000);
  for (let at = 0; at < 5; at += 1) {
    sent.push(made.length - 100);
    await vi.advanceTimersByTimeAsync(300);
  }
  expect(sent).toEqual([4, 12, 28, 60, 100]);
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 100 }, () => "again"));
});

test("one that has no answer in its place leaves as many places as there were at first", async () => {
  const { made, ask } = tries();
  const repeats = createRepeats(() => 1);
  const answers = Array.from({ length: 10 }, () => repeated(ask, repeats));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(made).toHaveLength(11);
  made[10]?.resolve("overtakes");
  await vi.advanceTimersByTimeAsync(0);
  expect(made).toHaveLength(13);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(made).toHaveLength(14);
  await vi.advanceTimersByTimeAsync(2_400);
  expect(made).toHaveLength(14);
  for (const one of made) one.resolve("late");
  await Promise.all(answers);
});

test("a call that is aborted while it waits for a place does not take one", async () => {
  const { made, ask } = tries();
  const repeats = createRepeats(() => 1);
  const stop = new AbortController();
  const first = repeated(ask, repeats);
  const second = repeated(ask, repeats, stop.signal);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(made).toHaveLength(3);
  stop.abort(new Error("enough"));
  made[1]?.reject(stop.signal.reason);
  await expect(second).rejects.toThrow("enough");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(made).toHaveLength(4);
  made[0]?.resolve("first");
  expect(await first).toBe("first");
});
