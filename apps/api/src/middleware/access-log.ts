import type { Observe } from "@atlasqueue/core";
import type { Next } from "hono";
import type { ApiContext } from "../http/context.ts";
import { senderOf } from "../http/sender.ts";
import { isProbe, rawPath, templateOf } from "../http/input/path.ts";

const path_chars_max = 200;

/** One `http_request` event per request, whatever its outcome; `http_probe` for a probe that was answered well. */
export function accessLog(observe: Observe) {
  return async (c: ApiContext, next: Next): Promise<void> => {
    const start = performance.now();
    await next();
    observe({
      event: isProbe(c.req.path) && c.res.ok ? "http_probe" : "http_request",
      ...senderOf(c),
      method: c.req.method,
      path_template: templateOf(c),
      path: rawPath(c).slice(0, path_chars_max),
      status_code: c.res.status,
      duration_ms: Math.round((performance.now() - start) * 1_000) / 1_000,
    });
  };
}
