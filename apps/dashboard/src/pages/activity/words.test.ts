import { expect, test } from "vitest";
import { detailWords, nameOf } from "./words.ts";

test("the details of an act are words, without what is empty", () => {
  expect(detailWords("dlq.replay", { type: "mail.send", rate: null, patched: false })).toBe("type mail.send");
  const rate = { limit: 2, period_seconds: 60 };
  expect(detailWords("queue.limits", { created_by: "ops", paused: true, scopes: ["read", "work"], rate })).toBe(
    "created by ops, paused, scopes read work, rate (limit 2, period seconds 60)",
  );
});

test("a fingerprint is the error that it stands for, and a target has its name", () => {
  const of = { type: "mail.send", fingerprint: "9f3a0c1be2d47586" };
  expect(detailWords("replay.create", { ...of, error: "Odd: ‹n›" })).toBe("type mail.send, “Odd: ‹n›”");
  expect(detailWords("dlq.purge", of)).toBe("type mail.send, of one error");
  expect([nameOf("job.cancel", of), detailWords("job.cancel", { type: "mail.send" })]).toEqual(["mail.send", ""]);
  expect([nameOf("token.create", { name: "ops", scopes: [] }), nameOf("job.delete", null)]).toEqual(["ops", undefined]);
});
