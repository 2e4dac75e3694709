import { randomUUID } from "node:crypto";
import { admin_secret, type Acts, type Stage } from "./stage.ts";

const definition = { cron: "0 0 * * *", job: { type: "noop" } };

async function schedule({ fresh, told }: Stage, job: object = definition.job) {
  const name = fresh();
  await told("createSchedule", { body: { name, ...definition, job } });
  return { params: { name } };
}

async function operation({ submit, told }: Stage) {
  await submit();
  const { id } = await told<{ id: string }>("createOperation", { body: { kind: "cancel", all: true } });
  return { params: { id } };
}

async function replay({ dead, told }: Stage) {
  const { id } = await told<{ id: string }>("createReplay", { body: { filter: { queue: await dead(2) } } });
  return { params: { id } };
}

async function token({ told }: Stage): Promise<{ id: string; token: string }> {
  return told("createToken", { body: { name: "made", scopes: ["read"] } });
}

/** The headers of a browser that is signed in. */
async function signedIn(stage: Stage) {
  const made = await token(stage);
  const answer = await stage.ask("openSession", { body: { token: made.token } });
  return { cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "", "x-atlasqueue-dashboard": "1" };
}

/** What operators do. */
export const ofOperators: Acts = {
  pauseQueue: async ({ fresh }) => ({ params: { queue: fresh() }, headers: { "idempotency-key": randomUUID() } }),
  resumeQueue: async ({ fresh, told }) => {
    const params = { queue: fresh() };
    await told("pauseQueue", { params });
    return { params };
  },
  limitQueue: async ({ fresh, submit }) => {
    const queue = fresh();
    await submit({ queue, group: "a" });
    return { params: { queue }, body: { group_concurrency: 2 } };
  },
  setQueueDefaults: async ({ fresh }) => ({ params: { queue: fresh() }, body: { max_attempts: 3 } }),
  // Of more than a step.
  replayDeadLetters: async ({ dead }) => ({ body: { queue: await dead(501) } }),
  purgeDeadLetters: async ({ dead }) => ({ body: { queue: await dead(501) } }),
  createReplay: async ({ dead }) => ({ body: { filter: { queue: await dead(2) }, patch: { a: 1 } } }),
  createOperation: async ({ submit }) => {
    await submit();
    return { body: { kind: "cancel", all: true } };
  },
  cancelOperation: operation,
  pauseReplay: replay,
  resumeReplay: async (stage) => {
    const paused = await replay(stage);
    await stage.told("pauseReplay", paused);
    return paused;
  },
  cancelReplay: replay,
  createSchedule: async ({ fresh }) => ({ body: { name: fresh(), ...definition } }),
  putSchedule: async (stage) => ({ ...(await schedule(stage)), body: { ...definition, catch_up: "all" } }),
  pauseSchedule: (stage) => schedule(stage),
  resumeSchedule: async (stage) => {
    const paused = await schedule(stage);
    await stage.told("pauseSchedule", paused);
    return paused;
  },
  runSchedule: (stage) => schedule(stage),
  "runSchedule in place of another job": async (stage) => {
    const unique = { key: stage.fresh(), on_conflict: "replace" };
    const due = await schedule(stage, { type: "noop", unique });
    await stage.told("runSchedule", due);
    return due;
  },
  deleteSchedule: (stage) => schedule(stage),
  createToken: async () => ({ body: { name: "made", scopes: ["read"] } }),
  rotateToken: async (stage) => ({ params: { id: (await token(stage)).id }, body: { overlap_seconds: 60 } }),
  revokeToken: async (stage) => ({ params: { id: (await token(stage)).id } }),
  openSession: async (stage) => {
    const made = await token(stage);
    return { headers: await signedIn(stage), body: { token: made.token } };
  },
  closeSession: async (stage) => ({ headers: await signedIn(stage) }),
  openQueueProvision: async ({ fresh }) => ({
    headers: { "X-Admin-Secret": admin_secret },
    body: { email: `${fresh()}@example.com` },
  }),
};
