import type { HandlerMiddleware } from "@atlasqueue/worker";

/** Sentry's, or another's of this form. */
type Reporter = {
  captureException(error: unknown, about: { tags: Record<string, string>; extra: Record<string, unknown> }): unknown;
};

/** With Sentry: `import * as Sentry from "@sentry/node"`, and `middleware: [reportErrors(Sentry)]`. */
export const reportErrors =
  (reporter: Reporter): HandlerMiddleware =>
  async ({ job, type, queue, attempt, signal }, next) => {
    try {
      return await next();
    } catch (error) {
      // An aborted attempt was cancelled, has lost its lease, waits for a signal, or ran into its timeout.
      const ended = signal.aborted && (signal.reason as Error).name !== "TimeoutError";
      if (!ended) reporter.captureException(error, { tags: { type, queue }, extra: { job_id: job.id, attempt } });
      throw error;
    }
  };
