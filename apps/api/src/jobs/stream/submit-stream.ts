import { limits, streamAnswer, submitLine } from "@atlasqueue/contract";
import { problemOf } from "../../http/answers/on-error.ts";
import type { ProblemError } from "../../http/answers/problem.ts";
import { exampleId, exampleKey, exampleSubmission } from "../../route/examples.ts";
import { route } from "../../route/route.ts";
import { runStream } from "./run.ts";

const encoder = new TextEncoder();

export const submitStream = route(
  {
    at: "POST /v1/jobs/stream",
    id: "streamJobs",
    tag: "Jobs",
    summary: "Stream jobs, line by line",
    description:
      "The body has a job per line (NDJSON), each with its own `idempotency_key`, and may go on for as long as you like. " +
      "The answer has a line for each, in order, written when the job is durable; lines are stored many at a time and " +
      "each for itself. A line that is refused has its problem in `error`, and those after it go on. Blank lines are " +
      "skipped, and counted in `line`. Jobs of one group run in the order of the lines.\n\n" +
      "The body is read only as fast as jobs are stored and answers are read: read them while you send. The last line has " +
      "`answered`, the number of lines with an answer, and `end`. It is `complete`, `idle` (no line came for a minute), " +
      "`draining` (the server stops) or `failed`. `error` then has the reason, such as a token that has expired, a " +
      "database that is unavailable, or a line that is too long. After anything but `complete`, or an answer without a last line, " +
      "send again what was not answered, or everything: what is stored is `replayed`. A client that reads no answers for " +
      "two minutes is cut off, and one that closes its side of the connection before the last line gets none.\n\n" +
      `A line may have ${limits.line_envelope_bytes_max} bytes besides its payload. The tenant's rate limit makes a stream ` +
      "wait, for a minute at most. A proxy that buffers answers or requests only makes the answers late.",
    scope: "submit",
    request: {
      body: {
        lines: true,
        schema: submitLine,
        example: { ...exampleSubmission, idempotency_key: exampleKey },
      },
    },
    gate: "own",
    answers: {
      200: {
        description: "A line of JSON for each line, and a last one.",
        schema: streamAnswer,
        content_type: "application/x-ndjson",
        stream: true,
        example: { line: 1, id: exampleId, status: "queued", outcome: "created" },
      },
    },
  },
  (call) => {
    const { deps, tenant, body, trace, context } = call;
    const asProblem = (thrown: unknown) => problemOf(deps, thrown, context);
    const over = deps.jobStreams.open(tenant, () => run.end({ end: "draining" }));
    const run = runStream({ deps, tenant, body, trace, problemOf: asProblem });
    const finish = () => {
      run.abandon();
      over();
    };
    const answers = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const text = await run.next();
          if (text !== undefined) return controller.enqueue(encoder.encode(text));
          finish();
          controller.close();
        },
        cancel: finish,
      },
      { highWaterMark: 0 },
    );
    const end = (refusal: ProblemError | undefined) =>
      refusal ? run.end({ end: "failed", problem: refusal }) : finish();
    return { body: answers, content_type: "application/x-ndjson", end };
  },
);
