import type { Metrics } from "@atlasqueue/core";
import { Hono } from "hono";
import { requiresOperator } from "../access/requires-operator.ts";
import { answerText } from "../http/answers/answer.ts";
import type { ApiEnv } from "../http/context.ts";

/** `/metrics`, in the text format of Prometheus. It shows all tenants' types of jobs, so it is the operator's. */
export function metricsRoutes({ registry }: Pick<Metrics, "registry">): Hono<ApiEnv> {
  return new Hono<ApiEnv>().get("/metrics", requiresOperator, async (c) =>
    answerText(c.get("request_id"), 200, await registry.metrics(), registry.contentType),
  );
}
