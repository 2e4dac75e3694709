import { NoRoomError } from "@atlasqueue/core/internal";
import { expect, test } from "vitest";
import { createUnreadRoom, type UnreadRoom } from "./unread-room.ts";

/** Ask until there is no more room. */
function fill(unread: UnreadRoom, tenant: string, of: "read" | "act" = "read"): void {
  expect(() => {
    for (;;) unread.take(tenant, 10_000, of);
  }).toThrow(NoRoomError);
}

test.each([1, 2, 20])(
  "whatever the reads of %s tenants leave unread, each has room for the answers to acts",
  (count) => {
    const unread = createUnreadRoom(48_000_000);
    const tenants = Array.from({ length: count }, (_, at) => `tenant ${at}`);
    for (const tenant of tenants) fill(unread, tenant);
    for (const tenant of tenants) {
      expect(() => unread.requireShare(tenant, 1_500_000)).not.toThrow();
      unread.take(tenant, 1_500_000, "act");
      unread.give(tenant, 1_500_000, "act");
    }
  },
);

test("whatever two tenants leave unread of the answers to their acts, others read", () => {
  const unread = createUnreadRoom(48_000_000);
  for (const tenant of ["a", "b"]) fill(unread, tenant, "act");
  unread.take("c", 1_000_000, "read");
});

test("a read that finds no room takes none", () => {
  const unread = createUnreadRoom(1_000_000);
  for (const tenant of ["a", "b", "c", "d", "e"]) fill(unread, tenant, "act");
  expect(() => unread.take("f", 700_000, "read")).toThrow(NoRoomError);
  for (let held = 0; held < 300_000; held += 10_000) unread.give("a", 10_000, "act");
  unread.take("f", 200_000, "read");
});

test("answers that have been read leave their room to others", () => {
  const unread = createUnreadRoom(1_000_000);
  unread.take("a", 560_000, "read");
  expect(() => unread.take("a", 10_000, "read")).toThrow(NoRoomError);
  unread.give("a", 560_000, "read");
  unread.take("a", 560_000, "read");
});
