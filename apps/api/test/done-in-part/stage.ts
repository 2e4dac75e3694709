import { randomUUID } from "node:crypto";
import { scopes, type LeaseAnswer } from "@atlasqueue/contract";
import { createToken, defaultTenant } from "@atlasqueue/core/internal";
import { NoRoomError } from "@atlasqueue/core/internal/http";
import { addDead, steppingDatabase, testDatabase, type Step } from "@atlasqueue/harness";
import { expect } from "vitest";
import { requireTokens } from "../../src/access/authenticate.ts";
import { operationNamed } from "../against-document.ts";
import type { Call } from "../checked-request.ts";
import { testApp } from "../test-app.ts";

/** By an operation's id, and what is special about the request: what is asked, once what it is about is there. */
export type Acts = Record<string, (stage: Stage) => Promise<Call>>;
export type Stage = Awaited<ReturnType<typeof openStage>>;

export const admin_secret = "correct horse battery";

/** What a database may refuse with before it did anything. Each is new: an error may be marked with what came before it. */
export const refusals = {
  "the server has no room": () => Object.assign(new Error("out of room"), { code: "53100", severity: "ERROR" }),
  "nobody else's statement may wait": () => new NoRoomError("statements that wait for a connection", true),
};

/** An app over a database whose steps a test may watch and stop, with what prepares requests to it. */
export async function openStage() {
  const own = await testDatabase();
  let watch: ((step: Step, sent: readonly string[]) => void) | undefined;
  // In turn, so that what is done side by side is refused in the same places each time.
  const hear = (step: Step, _number: number, _text: string, sent: readonly string[]) => watch?.(step, sent);
  const database = steppingDatabase(own.database, hear, { in_turn: true });
  const authenticator = requireTokens({ database, observe: () => {} });
  const api = await testApp({ database, admin_secret, authenticator });
  // Nothing is to be done later, in the middle of another request.
  await api.deps.followUps.stop();
  const { sql } = own.database;
  const made = await createToken(api.deps, { tenant: defaultTenant, name: "stage", scopes: [...scopes] });
  if (made.kind !== "created") throw new Error("there is no token");
  const { token } = made;

  /** A name that nothing has yet. */
  const fresh = () => `q${randomUUID()}`;
  const ask = async (id: string, { params = {}, headers, body }: Call): Promise<Response> => {
    const { path, method } = operationNamed(id);
    const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? "");
    return api.app.request(`http://localhost${filled}`, {
      method: method.toUpperCase(),
      headers: {
        "content-type": "application/json",
        // Whoever shows a session shows no token.
        ...(headers?.["cookie"] === undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  };
  const told = async <T>(id: string, call: Call): Promise<T> => {
    const answer = await ask(id, call);
    const text = await answer.text();
    expect(answer.status, `${id}: ${text}`).toBeLessThan(300);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };
  const submit = async (fields: object = {}): Promise<string> => {
    const headers = { "idempotency-key": randomUUID() };
    return (await told<{ id: string }>("submitJob", { headers, body: { type: "noop", ...fields } })).id;
  };
  const lease = async (queue: string, max_jobs = 1) => {
    const call = { params: { queue }, body: { worker_id: "w", max_jobs } };
    const { jobs } = await told<LeaseAnswer>("leaseJobs", call);
    expect(jobs).toHaveLength(max_jobs);
    return jobs.map(({ job, lease_token }) => ({ id: job.id, lease_token }));
  };
  return {
    sql,
    ask,
    told,
    submit,
    lease,
    fresh,
    /** The id and the token of a job that is held. */
    held: async (fields: object = {}) => {
      const queue = fresh();
      await submit({ queue, ...fields });
      const [one] = await lease(queue);
      return { id: one?.id ?? "", lease_token: one?.lease_token ?? "" };
    },
    /** Dead jobs of a new queue. */
    async dead(count: number): Promise<string> {
      const queue = fresh();
      await addDead(sql, queue, count);
      return queue;
    },
    /** A tenant may have only so many of some, and what a request changed is sooner found among few. */
    clear: () => sql`TRUNCATE atlasqueue.jobs, atlasqueue.operations, atlasqueue.schedules CASCADE`,
    /** Resolves when nothing goes on that an answer did not wait for. */
    quiet: () => api.deps.followUps.idle(),
    async stop() {
      await api.stop();
      await own.drop();
    },
    /** Hear of every step of what is sent to the database. It may throw, in place of that. */
    watched: async <T>(each: typeof watch, work: () => Promise<T>): Promise<T> => {
      watch = each;
      try {
        return await work();
      } finally {
        watch = undefined;
      }
    },
  };
}
