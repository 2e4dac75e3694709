import { auditActions } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { operations } from "../routes.ts";

test("every action of the contract is written by an operation, but for those that make and move tenants", () => {
  const written = operations.flatMap(({ audit }) => (audit ? [audit.action] : []));
  const others = auditActions.filter((action) => !action.startsWith("tenant."));
  expect([...new Set(written)].toSorted()).toEqual(others.toSorted());
});
