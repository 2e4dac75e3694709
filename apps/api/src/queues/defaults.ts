import { queue as queueSchema, queueDefaults, type JsonObject } from "@atlasqueue/contract";
import { setDefaults as storeDefaults } from "@atlasqueue/core/internal/http";
import { exampleQueue } from "../route/examples.ts";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { changed, path } from "./changed.ts";

export const setDefaults = route(
  {
    at: "PUT /v1/queues/{queue}/defaults",
    id: "setQueueDefaults",
    audit: { action: "queue.defaults", asks: ({ body }: { body: JsonObject }) => ({ detail: body }) },
    tag: "Queues",
    summary: "Set queue defaults",
    description:
      "Jobs of the queue have these values where their submission names none of its own. All defaults are set; one left " +
      "out or null is removed. They hold for jobs that are submitted from now on.",
    scope: "admin",
    request: {
      path,
      body: {
        schema: queueDefaults,
        example: { max_attempts: 3, timeout_seconds: 60 },
      },
    },
    answers: ok("The queue, with its defaults.", queueSchema, exampleQueue),
    problems: ["too_many_queues"],
  },
  (call) =>
    changed(call, async (ref) => {
      await call.deps.queueBound.admit(ref.tenant, [ref.queue]);
      await storeDefaults(call.deps, ref, call.body);
    }),
);
