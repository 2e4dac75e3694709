import { newId, type BegunOnce, type KeyedAct } from "@atlasqueue/core/internal/http";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";
import { createAuditor, type Auditor } from "./auditor.ts";
import { begunUnderKey } from "./under-key.ts";

const api = forFile(guardedApp);

const actor = { kind: "anybody", token_id: null, name: null } as const;
const act = {
  tenant: "default",
  actor,
  action: "queue.pause",
  target: "mails",
  count: null,
  detail: null,
  request_id: null,
  address: null,
  refused: null,
} as const;
const input = { path: { queue: "mails" }, body: undefined } as never;
const entries = async () => (await api.deps.database.sql`SELECT id, idempotency_key FROM atlasqueue.audit_log`).length;

test("a process that stood still until another may have taken over the key does nothing under it", async () => {
  const auditor = createAuditor(api.deps);
  let at_ms = 0;
  const frozen: Auditor = {
    ...auditor,
    async beginOnce(one: KeyedAct): Promise<BegunOnce> {
      const begun = await auditor.beginOnce(one);
      at_ms += 61_000;
      return begun;
    },
  };
  const late = begunUnderKey(frozen, act, "night", input, () => at_ms);
  await expect(late).rejects.toMatchObject({ kind: "unavailable" });
  // Nothing was begun after all, and the key is free.
  expect(await entries()).toBe(0);
  expect(await begunUnderKey(auditor, act, "night", input)).toMatchObject({ begun: { target: "mails" } });
  // Taken over meanwhile, it is the other's, and stays so.
  const taken: Auditor = {
    ...auditor,
    async beginOnce(one: KeyedAct): Promise<BegunOnce> {
      const begun = await frozen.beginOnce(one);
      await api.deps.database
        .sql`UPDATE atlasqueue.audit_log SET at = now() - interval '61 seconds' WHERE id = ${one.id}`;
      expect(await auditor.beginOnce({ ...one, id: newId() })).toEqual({ kind: "begun" });
      return begun;
    },
  };
  await expect(begunUnderKey(taken, act, "day", input, () => at_ms)).rejects.toMatchObject({ kind: "unavailable" });
  await expect(begunUnderKey(auditor, act, "day", input)).rejects.toMatchObject({ kind: "idempotency_under_way" });
});

test("an act that was never finished has its key for a minute, though the database's clock was set back", async () => {
  const auditor = createAuditor(api.deps);
  await begunUnderKey(auditor, act, "back", input);
  await expect(begunUnderKey(auditor, act, "back", input)).rejects.toMatchObject({ kind: "idempotency_under_way" });
  await api.deps.database
    .sql`UPDATE atlasqueue.audit_log SET at = at + interval '1 hour' WHERE idempotency_key = 'back'`;
  expect(await begunUnderKey(auditor, act, "back", input)).toMatchObject({ begun: { target: "mails" } });
});
