import { createClient } from "@atlasqueue/client";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { bookTrip, tripHandlers } from "./trip.ts";

test("a flight is taken back if there is no hotel, and kept if there is one", { tags: ["slow"] }, async () => {
  const { apiUrl } = await startSystem();
  const client = createClient({ url: apiUrl });
  const taken_back: unknown[] = [];
  const handlers = tripHandlers({
    book: async (what) => (what === "hotel in Oslo" ? undefined : what),
    takeBack: async (booking) => void taken_back.push(booking),
  });
  const worker = client.work("default", handlers);
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  expect(await bookTrip(client, "Oslo")).toEqual({ booked: false });
  expect(taken_back).toEqual(["flight to Oslo"]);
  expect(await bookTrip(client, "Rome")).toEqual({ booked: true });
  expect(taken_back).toHaveLength(1);
});
