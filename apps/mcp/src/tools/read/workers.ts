import { z } from "zod";
import { firstOf } from "../../untrusted/excerpt.ts";
import { items_max } from "../fields.ts";
import { shownName } from "../job-views.ts";
import { reads, tool } from "../tool.ts";

const names_max = 20;

export const listWorkers = tool({
  name: "list_workers",
  title: "List workers",
  description:
    "The live workers: the queues they take jobs from, the types they have handlers for, how busy they are. Workers that " +
    "lease over HTTP announce nothing and are not shown.",
  toolset: "read",
  scope: "read",
  hints: reads,
  input: z.strictObject({}),
  output: z.object({
    workers: z.array(
      z.object({
        worker_id: z.string(),
        host: z.string(),
        pid: z.int(),
        queues: z.array(z.string()),
        handlers: z.array(z.string()),
        concurrency: z.int(),
        active: z.int(),
        last_seen: z.iso.datetime(),
        state: z.enum(["running", "draining", "stuck"]),
      }),
    ),
  }),
  async run(_args, { client, signal, cuts }) {
    const all = await client.workers({ signal });
    return {
      workers: firstOf(cuts, all, { name: "workers", items_max }).map((worker) => ({
        worker_id: shownName(cuts, "worker_id", worker.id),
        host: shownName(cuts, "host", worker.host),
        pid: worker.pid,
        queues: namesOf("queues", worker.queues),
        handlers: namesOf("handlers", worker.handlers),
        concurrency: worker.concurrency,
        active: worker.active,
        last_seen: worker.last_seen,
        state: worker.state,
      })),
    };
    function namesOf(name: string, names: string[]): string[] {
      return firstOf(cuts, names, { name: `${name} of a worker`, items_max: names_max }).map((one) =>
        shownName(cuts, name, one),
      );
    }
  },
});
