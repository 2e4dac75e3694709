import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../eventually.ts";
import { httpReceiver } from "./http-receiver.ts";

async function start(...handler: Parameters<typeof httpReceiver>) {
  const receiver = await httpReceiver(...handler);
  onTestFinished(() => receiver.close());
  return receiver;
}

test("requests are recorded as they came and answered with 200", async () => {
  const receiver = await start();
  const { status } = await fetch(`${receiver.url}/hook?n=1`, {
    method: "POST",
    headers: { "x-id": "7" },
    body: "hi",
  });
  expect(status).toBe(200);
  expect(receiver.requests).toMatchObject([
    { method: "POST", path: "/hook?n=1", headers: { "x-id": "7" }, body: "hi" },
  ]);
});

test("the handler chooses the answer", async () => {
  const receiver = await start(async ({ body }) => ({
    status: 429,
    headers: { "retry-after": "2" },
    body: `${body}!`,
  }));
  const response = await fetch(receiver.url, { method: "POST", body: "hi" });
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("2");
  expect(await response.text()).toBe("hi!");
});

test("a handler can hang up, and one that throws answers 500", async () => {
  const receiver = await start(({ path }) => {
    if (path === "/broken") throw new Error("out of paper");
    return "hang_up";
  });
  await expect(fetch(receiver.url)).rejects.toThrow();
  const response = await fetch(`${receiver.url}/broken`);
  expect(response.status).toBe(500);
  expect(await response.text()).toContain("out of paper");
});

test("closing doesn't wait for an answer that never comes", async () => {
  const receiver = await start(() => new Promise(() => {}));
  const answer = fetch(receiver.url);
  answer.catch(() => {});
  await eventually(() => receiver.requests.length === 1);
  await receiver.close();
  await expect(answer).rejects.toThrow();
});
