import { setTimeout as delay } from "node:timers/promises";
import type { Scene } from "../scene.ts";

const needed = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("the scene could not be set");
  return value;
};

/** A worker that lost its lease acks when another has the job, and once more when it is done. */
export async function staleAck(scene: Scene): Promise<void> {
  const id = await scene.submit("stale");
  const first = needed(await scene.take(id));
  const end = scene.begin(first);
  await scene.endLeases();
  await scene.core.recoverExpired(scene.deps, 10);
  const second = needed(await scene.take(id));
  const endSecond = scene.begin(second);
  end();
  await scene.complete(first);
  endSecond();
  await scene.complete(second);
  await scene.complete(first);
}

/** A lease is renewed when its claim is due to be looked at. */
export async function renewedInTime(scene: Scene): Promise<void> {
  const id = await scene.submit("renewed");
  const lease = needed(await scene.take(id));
  const end = scene.begin(lease);
  await scene.endLeases();
  await scene.core.extendLeases(scene.deps, [lease], 30);
  await scene.sql`UPDATE atlasqueue.claims SET check_at = now() - interval '1 second'`;
  await scene.core.recoverExpired(scene.deps, 10);
  end();
  await scene.complete(lease);
  await scene.drain();
}

/** Two workers hear of the same job, one after the other. */
export async function heardTwice(scene: Scene): Promise<void> {
  const id = await scene.submit("heard");
  const first = needed(await scene.take(id, "w1"));
  const end = scene.begin(first);
  const second = await scene.take(id, "w2");
  end();
  await scene.complete(first);
  if (second) {
    scene.begin(second)();
    await scene.complete(second);
  }
}

/** A claim is done, and whoever sent it hears nothing of that. */
export async function lostAnswer(scene: Scene): Promise<void> {
  const { core, deps } = scene;
  const id = await scene.submit("unheard");
  const returns = core.createLeaseReleaser(deps);
  const claimer = { tenant: "default", queues: ["default"], worker_id: "w1", lease_seconds: 30 };
  await core
    .claim({ ...deps, database: unanswered(deps.database) }, [id], { ...claimer, unanswered: returns.unanswered })
    .catch(() => {});
  await returns.close(returned_ms_max);
  await scene.endLeases();
  await core.recoverExpired(deps, 10);
  await scene.drain();
}
const returned_ms_max = 10_000;

/** A database that does what it is told, and whose connection breaks before it can say so. */
function unanswered(database: Scene["deps"]["database"]): Scene["deps"]["database"] {
  const closed = Object.assign(new Error("write CONNECTION_CLOSED"), { code: "CONNECTION_CLOSED" });
  const sql = new Proxy(database.sql, {
    get(target, name) {
      if (name !== "unsafe") return Reflect.get(target, name) as unknown;
      return (...call: Parameters<typeof target.unsafe>) => {
        const query = target.unsafe(...call);
        const answered = query.then.bind(query);
        const lost = () => answered(() => Promise.reject(closed));
        return Object.assign(query, {
          then: (...then: Parameters<Promise<unknown>["then"]>) => lost().then(...then),
          catch: (...then: Parameters<Promise<unknown>["catch"]>) => lost().catch(...then),
        });
      };
    },
  });
  return { ...database, sql };
}

/** A job that always fails, until it has had all its attempts. */
export async function alwaysFails(scene: Scene): Promise<void> {
  const id = await scene.submit("fails", { max_attempts: 3 });
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await scene.sql`UPDATE atlasqueue.jobs SET due_at = now() WHERE due_at IS NOT NULL`;
    await scene.core.promoteAll(scene.deps);
    const lease = await scene.take(id);
    if (!lease) break;
    await scene.fail(lease);
  }
  await scene.drain();
  await listDead(scene);
}

/** A job whose workers all die. */
export async function killsItsWorkers(scene: Scene): Promise<void> {
  const id = await scene.submit("kills", { max_attempts: 2 });
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const lease = await scene.take(id);
    if (!lease) break;
    scene.dieWith(lease);
    await scene.endLeases();
    await scene.core.recoverExpired(scene.deps, 10);
  }
  await scene.drain();
  await listDead(scene);
}

/** A stranger's open transaction has one of two jobs locked whose leases have ended. */
export async function lockedByStranger(scene: Scene): Promise<void> {
  const ids = [await scene.submit("locked"), await scene.submit("beside")];
  const leases = await scene.core.claim(scene.deps, ids, {
    tenant: "default",
    queues: ["default"],
    worker_id: "w1",
    lease_seconds: 30,
  });
  for (const lease of leases) scene.begin(lease);
  await scene.endLeases();
  await scene.sql.begin(async (stranger) => {
    await stranger`SELECT FROM atlasqueue.jobs WHERE id = ${ids[0] ?? ""} FOR UPDATE`;
    const recovered = scene.core.recoverExpired(scene.deps, 10);
    // Longer than a sweep may be late.
    await Promise.race([recovered, delay(locked_ms)]);
    void recovered.catch(() => {});
  });
  // What was locked has its turn again at once: how soon the sweep would come by is not the question here.
  await scene.sql`UPDATE atlasqueue.claims SET check_at = now()`;
  await scene.core.recoverExpired(scene.deps, 10);
  await scene.drain();
}
const locked_ms = 12_000;

/** Jobs that a dead worker held, one of which dies with it: the list is kept by what follows each move. */
async function listDead({ core, deps, sql }: Scene): Promise<void> {
  const followUps = core.createFollowUps(deps);
  const dead = await sql<
    { id: string; queue: string; type: string }[]
  >`SELECT id, queue, type FROM atlasqueue.jobs WHERE status = 'dead'`;
  const job = (one: (typeof dead)[number]) => ({ ...one, tenant: "default", group_key: null });
  await followUps.settled(dead.map((one) => ({ job: job(one), became: "dead" })));
  await followUps.idle();
  await followUps.stop();
}

/** People cancel a job that has ended, and one that another tenant has. */
export async function peopleCancel(scene: Scene): Promise<void> {
  const id = await scene.submit("done");
  await scene.work(id);
  const cancel = scene.history.invoke("cancel", { tenant: "default", jobs: [id] });
  const { kind } = await scene.core.cancel(scene.deps, "default", id);
  if (kind === "cancelled") cancel.ok({ jobs: [id] });
  else cancel.fail(kind);
  const other = await scene.submit("others", { delay_seconds: 5 });
  const trespass = scene.history.invoke("trespass", { tenant: "intruder", jobs: [other], about: "cancel" });
  const outcome = await scene.core.cancel(scene.deps, "intruder", other);
  trespass.ok({ status: outcome.kind === "unknown" ? 404 : 200, seen: outcome.kind !== "unknown" });
  await scene.drain();
}
