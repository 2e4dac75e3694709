import { createClient } from "@atlasqueue/client";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { reportSales, salesHandlers } from "./report.ts";

test("the regions are loaded once each, and their sum is the result", { tags: ["slow"] }, async () => {
  const { apiUrl } = await startSystem();
  const client = createClient({ url: apiUrl });
  const sales = new Map([
    ["north", 3],
    ["south", 4],
    ["west", 7],
  ]);
  const asked: string[] = [];
  const handlers = salesHandlers(async (region) => {
    asked.push(region);
    return sales.get(region) ?? 0;
  });
  const worker = client.work("default", handlers);
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  expect(await reportSales(client, "2030-01", [...sales.keys()])).toBe(14);
  expect(await reportSales(client, "2030-01", [...sales.keys()])).toBe(14);
  expect(asked.toSorted()).toEqual(["north", "south", "west"]);
});
