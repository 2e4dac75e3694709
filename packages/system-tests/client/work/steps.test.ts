import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { clientOf, testApi, workersOf } from "../test-api.ts";

const api = forFile(testApi);
const client = clientOf(api);

const work = workersOf(client, { waitSeconds: 1 });
const isParked = (id: string, waits_for: string) =>
  eventually(async () => expect(await client.get(id)).toMatchObject({ status: "scheduled", waits_for, attempts: 0 }));

test("a remote handler does its steps once, waits for a signal, and goes on", async () => {
  const done: string[] = [];
  work("orders", async (_payload, { step, waitFor, job }) => {
    const charge = await step("charge", () => {
      done.push("charge");
      return { id: "ch_17" };
    });
    const answer = await waitFor("approved", { timeoutSeconds: 60 });
    await step("ship", () => void done.push("ship"));
    if (job.attempts === 1) throw new Error("once more");
    return { charge, answer };
  });
  const handle = await client.submit({ type: "a", queue: "orders" });
  await isParked(handle.id, "approved");
  expect(await handle.signal("approved", { by: "ada" })).toBe("sent");
  expect(await client.signal(handle.id, "approved", { by: "bob" })).toBe("sent_before");
  expect(await handle.result()).toEqual({
    charge: { id: "ch_17" },
    answer: { timed_out: false, payload: { by: "ada" } },
  });
  expect(done).toEqual(["charge", "ship"]);
  expect((await client.steps(handle.id)).steps.map(({ name }) => name)).toEqual(["charge", "ship"]);
});

test("steps that did not come with the lease are asked for", async () => {
  const done: string[] = [];
  work("large", async (_payload, { step, waitFor }) => {
    for (const name of ["a", "b", "c"])
      await step(name, () => {
        done.push(name);
        return name.repeat(150_000);
      });
    await waitFor("go", { timeoutSeconds: 60 });
    return (await step("d", () => 1)) + 1;
  });
  const handle = await client.submit({ type: "a", queue: "large" });
  await isParked(handle.id, "go");
  await handle.signal("go");
  expect(await handle.result()).toBe(2);
  expect(done).toEqual(["a", "b", "c"]);
});

test("a step that was done while the API was away is stored when it is back", async () => {
  let runs = 0;
  const { named } = work("away", async (_payload, { step }) => {
    const result = await step("once", async () => {
      runs += 1;
      await api.stop();
      return runs;
    });
    return result;
  });
  const handle = await client.submit({ type: "a", queue: "away" });
  await eventually(() => named("api_unavailable").some((event) => "during" in event && event.during === "steps"));
  await api.start();
  expect(await handle.result()).toBe(1);
  expect(runs).toBe(1);
});

test("a signal to a job that is final, or to none, is an error", async () => {
  const { id } = await client.submit({ type: "a", queue: "nobody" });
  await client.cancel(id);
  await expect(client.signal(id, "go")).rejects.toMatchObject({ name: "JobFinishedError" });
  await expect(client.signal("01890000-0000-7000-8000-000000000000", "go")).rejects.toMatchObject({
    name: "NotFoundError",
  });
});
