import { liveEventsQuery } from "@atlasqueue/contract";
import type { LiveEventText } from "@atlasqueue/core/internal/http";
import { z } from "zod";
import { route } from "../route/route.ts";
import { createEventStream } from "./event-stream.ts";

const example = `retry: 3000

event: counts
data: {"at":"2030-01-31T12:00:00.000Z","counts":{"queued":12,"running":4},"queues":[{"queue":"mails","counts":{"queued":12,"running":4}}]}

: still here

event: finished
data: {"at":"2030-01-31T12:00:01.000Z","items":[{"id":"01920000-0000-7000-8000-000000000000","queue":"mails","type":"mail.send","status":"succeeded","finished_at":"2030-01-31T12:00:00.412Z"}],"more":false}

`;

export const events = route(
  {
    at: "GET /v1/events",
    id: "listenToEvents",
    tag: "Statistics",
    summary: "Stream events",
    description:
      "Server-sent events, for as long as the client reads. `counts`: how many jobs of each status there are, in all " +
      "and in the queues followed (those named in `queues`, or the first 100 by name); at first all of them, then " +
      "what has changed, once a second at most. `finished`: jobs that finished in the last second, a hundred at most; " +
      "`more` when there were others. A comment every 15 seconds shows that the connection lives. `end`: its `reason` is " +
      "`token_ended`, or `draining` when the server stops. A reader that is too slow is dropped. After any end: connect " +
      "again, and all counts are sent again.",
    scope: "read",
    request: { query: liveEventsQuery },
    gate: "own",
    answers: {
      200: { description: "The events.", schema: z.string(), content_type: "text/event-stream", stream: true, example },
    },
    problems: ["share_used", "no_room"],
  },
  ({ deps, tenant, query }) => {
    let stop = () => {};
    // A tenant that has moved is quiet here. Its next stream is its new cell's.
    const look = async () => (await deps.cellOf?.(tenant))?.liveEvents === deps.liveEvents || stream.end();
    const looking = deps.cellOf && setInterval(() => void look().catch(() => {}), 2_000).unref();
    const stream = createEventStream(() => (clearInterval(looking), stop()));
    const tell = (event: LiveEventText): void => {
      stream.send(event);
      if (event.event === "end") stream.end();
    };
    try {
      stop = deps.liveEvents.listen({ tenant, queues: query.queues }, tell);
    } catch (error) {
      stream.end();
      throw error;
    }
    const end = (refusal: unknown) =>
      refusal === undefined ? stream.end() : tell({ event: "end", data: '{"reason":"token_ended"}' });
    return { body: stream.body, content_type: "text/event-stream", end };
  },
);
