import { allowsHost, type HostRule } from "@atlasqueue/program/hosts";
import type { Next } from "hono";
import type { ApiContext } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";

/** 400 for a request addressed to a name this API does not answer to. */
export function hostGuard(rule: HostRule | undefined) {
  return (c: ApiContext, next: Next): Promise<void> => {
    if (!allowsHost(rule, new URL(c.req.url).hostname))
      throw new ProblemError(
        "malformed_request",
        "This API does not answer to the name in the Host header; ALLOWED_HOSTS adds names besides localhost",
      );
    return next();
  };
}
