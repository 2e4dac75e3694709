import { limits } from "@atlasqueue/contract";
import { submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { flowFaults } from "./flow-faults.ts";
import type { FlowJob } from "./flow.ts";

const id = "01920000-0000-7000-8000-000000000000";
const job = (ties: Partial<FlowJob> = {}): FlowJob => ({ ...submission(), ...ties });
const faultsOf = (...jobs: FlowJob[]) => flowFaults({ jobs }).map(({ pointer, message }) => `${pointer} ${message}`);

test("refs in any order, ids, and a batch in which no one waits are fine", () => {
  expect(faultsOf(job({ depends_on: ["b", id] }), job({ ref: "b" }))).toEqual([]);
  expect(faultsOf(job({ ref: "a", idempotency_key: "k" }), job({ depends_on: [] }))).toEqual([]);
  expect(flowFaults({ jobs: [job()], then: submission() })).toEqual([]);
});

test("a ref that two jobs have is refused, even where no one waits", () => {
  expect(faultsOf(job({ ref: "a" }), job(), job({ ref: "a" }))).toEqual([
    '/jobs/2/ref must not be that of /jobs/0 too; got "a"',
  ]);
});

test("a job must not wait for itself, or for what is no one's ref", () => {
  expect(faultsOf(job({ ref: "a", depends_on: ["a"] }), job({ depends_on: ["a", "z"] }))).toEqual([
    '/jobs/0/depends_on/0 must not be the job itself; got "a"',
    '/jobs/1/depends_on/1 must be the ref of a job in this batch, or the id of one that exists; got "z"',
  ]);
});

test("a circle is named at each of its jobs, and a long one is cut", () => {
  const three = [
    job({ ref: "a", depends_on: [id, "b"] }),
    job({ ref: "b", depends_on: ["c"] }),
    job({ ref: "c", depends_on: ["a"] }),
  ];
  const message = "must not make jobs wait for one another in a circle: a → b → c → a";
  expect(faultsOf(job({ depends_on: ["a"] }), ...three)).toEqual([
    `/jobs/1/depends_on/1 ${message}`,
    `/jobs/2/depends_on/0 ${message}`,
    `/jobs/3/depends_on/0 ${message}`,
  ]);
  const many = Array.from({ length: 100 }, (_, at) => job({ ref: `r${at}`, depends_on: [`r${(at + 1) % 100}`] }));
  const faults = faultsOf(...many);
  expect(faults).toHaveLength(20);
  expect(faults[0]).toMatch(/: r0 → .* → r9 → \(91 more\)$/);
});

test("as many ties as there may be, and no more", () => {
  const ids = Array.from({ length: limits.flow_edges_max }, (_, at) => id.slice(0, -5) + String(at).padStart(5, "0"));
  expect(faultsOf(job({ depends_on: ids }))).toEqual([]);
  expect(faultsOf(job({ ref: "a" }), job({ depends_on: ids }), job({ depends_on: ["a"] }))).toEqual([
    "/jobs must not wait for more than 10000 jobs, counting each as often as it is named; got 10001",
  ]);
});

test("in a flow no job has a key of its own, or may be answered with another", () => {
  const unique = (on_conflict?: "return" | "replace" | "reject") => submission({ unique: { key: "u", on_conflict } });
  const jobs = [job({ ref: "a", idempotency_key: "k" }), { ...unique("reject"), depends_on: ["a"] }, unique()];
  expect(flowFaults({ jobs, then: unique("replace") }).map(({ pointer, message }) => `${pointer} ${message}`)).toEqual([
    '/jobs/0/idempotency_key must be left out where jobs wait for one another, as one key stands for all of them; got "k"',
    '/jobs/2/unique/on_conflict must be "reject" for a job in a flow; got "return"',
    '/then/unique/on_conflict must be "reject" for a job in a flow; got "replace"',
  ]);
});
