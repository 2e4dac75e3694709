import { auditActions } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { operations } from "../routes.ts";

test("every action of the contract is written by an operation, or where a tenant is made", () => {
  const written = operations.flatMap(({ audit }) => (audit ? [audit.action] : []));
  expect([...new Set(written), "tenant.provision"].toSorted()).toEqual(auditActions.toSorted());
});
