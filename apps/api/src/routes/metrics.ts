import type { Metrics } from "@atlasqueue/core";
import { Hono } from "hono";
import { answerText } from "../http/answer.ts";
import type { ApiEnv } from "../http/context.ts";

/** `/metrics`, in the text format of Prometheus. */
export function metricsRoutes({ registry }: Pick<Metrics, "registry">): Hono<ApiEnv> {
  return new Hono<ApiEnv>().get("/metrics", async (c) =>
    answerText(c.get("request_id"), 200, await registry.metrics(), registry.contentType),
  );
}
