import { Hono } from "hono";
import { answerFixed, fixed } from "../http/answers/cached.ts";
import type { ApiEnv } from "../http/context.ts";
import { openApiDocument } from "../openapi/document.ts";

/** `/openapi.json`, made once. */
export function openApiRoutes(): Hono<ApiEnv> {
  const document = fixed(JSON.stringify(openApiDocument()), "application/json");
  return new Hono<ApiEnv>().get("/openapi.json", (c) => answerFixed(c, document));
}
