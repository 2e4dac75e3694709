import { createClient } from "@atlasqueue/client";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { bookTrip, tripHandlers } from "./trip.ts";

test("a flight is cancelled if there is no hotel, and kept if there is one", { tags: ["slow"] }, async () => {
  const { apiUrl } = await startSystem();
  const client = createClient({ url: apiUrl });
  const cancelled: unknown[] = [];
  const handlers = tripHandlers({
    book: async (what) => (what === "hotel in Oslo" ? undefined : what),
    cancel: async (booking) => void cancelled.push(booking),
  });
  const worker = client.work("default", handlers);
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  expect(await bookTrip(client, "Oslo")).toEqual({ booked: false });
  expect(cancelled).toEqual(["flight to Oslo"]);
  expect(await bookTrip(client, "Rome")).toEqual({ booked: true });
  expect(cancelled).toHaveLength(1);
});
