// @module-tag slow
import { forFile } from "@atlasqueue/harness";
import { Agent } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openQueueError, problem } from "@atlasqueue/contract";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { faultsOfAnswer, operationNamed } from "../test/against-document.ts";
import { knownJobs } from "../test/fuzz/known.ts";
import { fuzzedSecret } from "../test/fuzz/valid.ts";
import { requestsFor, type FuzzedRequest } from "../test/fuzz/requests.ts";
import { send } from "../test/fuzz/send.ts";
import { serverOf, testApp } from "../test/test-app.ts";
import type { Operation } from "./route/operation.ts";
import { operations } from "./routes.ts";
import { isOpenQueuePath } from "./http/answers/detail.ts";

// FUZZ_SEED=1 FUZZ_RUNS=100000 npx -y pnpm test:slow apps/api/src/fuzz: another run, and a longer one.
const seed = Number(process.env.FUZZ_SEED ?? 20_261_120);
const runs = Number(process.env.FUZZ_RUNS ?? 4_000);
/** A slow machine does fewer; when more are asked for, it takes as long as it takes. */
const ms_max = process.env.FUZZ_RUNS ? 3_600_000 : 12_000;
const heap_growth_bytes_max = 48 * 1_048_576;

const api = forFile(() => testApp({ admin_secret: fuzzedSecret }));
const server = serverOf(api);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const known = knownJobs();
const answered = new Map<string, Set<number>>();
afterAll(() => void agent.destroy());

// Operations on jobs are worth more tries than those that always answer the same, and those that need a lease, or
// something else that another one made, most of all.
const needsSomethingMade = ({ path }: Operation) => /^\/v1\/(tokens|dlq\/replays|operations)/.test(path);
const weightOf = (operation: Operation) =>
  operation.scope === "work" || needsSomethingMade(operation) ? 8 : operation.scope || operation.request?.body ? 4 : 1;
/** Nothing is made here for them to work on: no tokens are made where nobody has to show one. */
const needTokens = new Set(["createToken", "rotateToken", "revokeToken"]);
const anyRequest = fc.oneof(
  ...operations.map((operation) => ({ weight: weightOf(operation), arbitrary: requestsFor(operation) })),
);

/** What is wrong with an answer. */
async function faultsOf(made: FuzzedRequest): Promise<string[]> {
  const bodyFilled = typeof made.body === "string" ? known.fill(made.body) : made.body;
  const response = await send(server.port, agent, { ...made, target: known.fill(made.target), body: bodyFilled });
  const id = made.operation;
  if (response.status >= 500) return [`${response.status}: ${await response.text()}`];
  // A message of MCP that wants no answer gets an empty one.
  const said = response.ok && response.status !== 202 && response.headers.get("content-type") === "application/json";
  if (said) known.learn(await response.clone().json());
  if (!made.stray) answered.set(id, (answered.get(id) ?? new Set()).add(response.status));
  if (!made.stray || response.ok) return faultsOfAnswer(operationNamed(id), response);
  // The intended path may have become one of the other surface, as with `..` in it.
  const format = isOpenQueuePath(new URL(made.target, server.url).pathname) ? openQueueError : problem;
  const checked = format.safeParse(await response.json());
  return checked.success ? [] : [`an error in another format: ${checked.error.message}`];
}

let sent = 0;
const fuzz = (from: number, count: number) =>
  fc.assert(
    fc.asyncProperty(anyRequest, async (made) => {
      sent += 1;
      expect(await faultsOf(made)).toEqual([]);
    }),
    { seed: seed + from, numRuns: count, interruptAfterTimeLimit: ms_max / 2, markInterruptAsFailure: false },
  );

test(
  "whatever is sent to any operation is answered as documented, without a 5xx or growing memory",
  { timeout: ms_max * 2 + 10_000 },
  async () => {
    await fuzz(0, runs / 2);
    const before = heapBytes();
    await fuzz(1, runs / 2);
    expect(heapBytes() - before).toBeLessThan(heap_growth_bytes_max);

    const never = operations.filter(
      ({ id }) => !needTokens.has(id) && ![...(answered.get(id) ?? [])].some((status) => status < 300),
    );
    // Otherwise it would be shallow: most operations must do their work now and then, and with more tries every one.
    if (sent >= runs)
      expect(never.length, never.map(({ id }) => id).join(" ")).toBeLessThanOrEqual(
        sent >= 10_000 ? 0 : operations.length / 6,
      );
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  },
);

function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
