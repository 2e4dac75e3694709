import type { JsonObject } from "@atlasqueue/contract";
import { pause } from "@atlasqueue/core/internal";
import { chance } from "../chance.ts";
import { queueNames, queues } from "../kinds.ts";
import { insist } from "../submit/insist.ts";
import type { TaskInput } from "../task.ts";
import type { World } from "../submit/world.ts";
import { concurrencyLimits, rateLimits, setLimits, setPaused } from "./queues.ts";

const minute_ms = 60_000;
const again_ms = 500;

/** What must be there before the first act, also after this process was killed in the middle of one. */
export async function prepare(world: World): Promise<void> {
  await createRows(world);
  await Promise.all(world.kept.map((tenant) => prepareTenant(world, tenant)));
}

/** The caller's own table. */
async function createRows({ own, over }: World): Promise<void> {
  while (!over.aborted) {
    try {
      await own`CREATE TABLE IF NOT EXISTS caller_rows (nonce text PRIMARY KEY)`;
      return;
    } catch {
      await pause(again_ms, over);
    }
  }
}

async function prepareTenant(world: World, tenant: string): Promise<void> {
  const random = chance(world.config.seed, "limits", tenant);
  await Promise.all([
    ...queueNames.map((queue) => setPaused(world, tenant, queue, false)),
    setLimits(world, tenant, queues.limited, concurrencyLimits(random)),
    setLimits(world, tenant, queues.rated, rateLimits(random)),
    ...(["one", "all"] as const).map((catch_up) => putSchedule(world, tenant, catch_up)),
  ]);
}

/** Two a minute for each tenant: one makes up for every slot that it missed, one for the latest. */
async function putSchedule(world: World, tenant: string, catch_up: "one" | "all"): Promise<void> {
  const name = `${tenant}-${catch_up}`;
  const begun = world.history.invoke("schedule", { name, tenant, queue: queues.plain, every_ms: minute_ms, catch_up });
  const apis = world.apisOf(tenant);
  const payload: TaskInput = { nonce: name, tenant, ms: 5 };
  const job = { type: "scheduled", queue: queues.plain, max_attempts: 25, payload: payload as JsonObject };
  const known = await insist(world.over, async (tries) => {
    await apis[tries % apis.length]?.client.schedules.put({ name, cron: "* * * * *", catch_up, job });
  });
  if (known.kind === "done") begun.ok({ name });
  else if (known.kind === "refused") begun.fail(known.error);
  else begun.info(known.error);
}
