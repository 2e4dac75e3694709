import { bulkAnswer, bulkRequest, jobPage, limits, listDeadQuery } from "@atlasqueue/contract";
import { exampleJob } from "../../route/examples.ts";
import type { Operation } from "../../route/operation.ts";

const which =
  `The dead letters are chosen by \`ids\`, ${limits.bulk_ids_max} at most, or by \`queue\`, \`type\` or both, or by \`all\`. Each step of ` +
  "500 is a transaction of its own. When `changed` is less than `matched` the request's time was up, after about four seconds, " +
  "or somebody else had some in hand: ask again. With `dry_run` nothing is changed.";
const answers = {
  200: {
    description: "How many there were when the request came, and how many were changed.",
    schema: bulkAnswer,
    example: { matched: 600, changed: 600 },
  },
};

/** Jobs that died: looked at, started anew, or removed. */
export const dlqOperations: Operation[] = [
  {
    method: "get",
    path: "/v1/dlq",
    id: "listDeadLetters",
    tag: "Dead letters",
    summary: "List dead jobs, those that died last first",
    scope: "read",
    request: { query: listDeadQuery },
    answers: {
      200: {
        description:
          "A page. It may be short, even empty, and still have a `next_cursor`; null means there is no more.",
        schema: jobPage,
        example: { items: [exampleJob], next_cursor: null },
      },
    },
    problems: ["validation"],
  },
  {
    method: "post",
    path: "/v1/dlq/replay",
    id: "replayDeadLetters",
    tag: "Dead letters",
    summary: "Start dead jobs anew",
    description: `They are queued now, as if they were new, and keep their history. ${which}`,
    scope: "admin",
    request: { body: { schema: bulkRequest, example: { queue: "mail", type: "mail.send" } } },
    answers,
    problems: ["validation"],
  },
  {
    method: "post",
    path: "/v1/dlq/purge",
    id: "purgeDeadLetters",
    tag: "Dead letters",
    summary: "Remove dead jobs",
    description: `They are gone, with their history, and their idempotency keys are free again. ${which}`,
    scope: "admin",
    request: { body: { schema: bulkRequest, example: { queue: "mail", dry_run: true } } },
    answers,
    problems: ["validation"],
  },
];
