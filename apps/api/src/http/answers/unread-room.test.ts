import { NoRoomError } from "@atlasqueue/core/internal";
import { expect, test } from "vitest";
import { createUnreadRoom, type UnreadRoom } from "./unread-room.ts";

/** Read until there is no more room. */
function fill(unread: UnreadRoom, tenant: string): void {
  expect(() => {
    for (;;) unread.take(tenant, 10_000, "read");
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
      unread.give(tenant, 1_500_000);
    }
  },
);

test("answers that have been read leave their room to others", () => {
  const unread = createUnreadRoom(1_000_000);
  unread.take("a", 500_000, "read");
  expect(() => unread.take("a", 10_000, "read")).toThrow(NoRoomError);
  unread.give("a", 500_000);
  unread.take("a", 500_000, "read");
});
