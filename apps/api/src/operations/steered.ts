import { describeFields, jobId, listOperationsQuery } from "@atlasqueue/contract";
import {
  findOperation,
  listOperations,
  steerOperation,
  type OperationRow,
  type Steering,
} from "@atlasqueue/core/internal/http";
import { z } from "zod";
import { ProblemError, unknown } from "../http/answers/problem.ts";
import { noBody, type Operation as Described } from "../route/operation.ts";
import { pageOf } from "../route/answers.ts";
import { route, type Route } from "../route/route.ts";

/** What the routes of two resources over the same rows differ in. */
type Resource<Shown> = {
  name: "operation" | "replay";
  path: `/v1/${string}`;
  tag: Described["tag"];
  /** Only rows of this kind. Default: all. */
  kind?: "replay";
  schema: z.ZodType<Shown>;
  page: z.ZodType<{ items: Shown[]; next_cursor: string | null }>;
  example: Shown;
  show(row: OperationRow): Shown;
};

/**
 * The routes of operations that go on in the background: list them, get one, and steer it.
 *
 * @example
 * const { list, get, steering } = steered({ name: "replay", path: "/v1/dlq/replays", show: showReplay, … });
 */
export function steered<Shown>({ name, path, tag, kind, schema, page: pageSchema, example, show }: Resource<Shown>) {
  const Name = name === "replay" ? "Replay" : "Operation";
  const one = name === "replay" ? "a replay" : "an operation";
  const byId = describeFields(z.strictObject({ id: jobId }), { id: `The ${name}'s id.` });
  const answer = { description: `The ${name}.`, schema, example };

  const list = route(
    {
      at: `GET ${path}`,
      id: `list${Name}s`,
      tag,
      summary: `List ${name}s`,
      description:
        "Those that are over are kept for 30 days. A page of large filters or patches ends after about 4 MiB.",
      scope: "read",
      request: { query: listOperationsQuery },
      answers: pageOf(pageSchema, example),
    },
    async ({ deps, tenant, query: { limit, cursor } }) => {
      const page = deps.cursors.page({ list: `${name}s`, tenant, filter: {} }, cursor);
      const { rows, next } = await listOperations(deps, tenant, limit, page.after, kind);
      return { items: rows.map(show), next_cursor: page.next(next) };
    },
  );

  const get = route(
    {
      at: `GET ${path}/{id}`,
      id: `get${Name}`,
      tag,
      summary: `Get ${one}`,
      scope: "read",
      request: { path: byId },
      answers: { 200: answer },
      problems: ["not_found"],
    },
    async ({ deps, tenant, path: { id } }) =>
      show((await findOperation(deps, tenant, id, kind)) ?? unknown(`${name} with this id`)),
  );

  const steering = (what: Steering, summary: string, description: string): Route =>
    route(
      {
        at: `POST ${path}/{id}/${what}`,
        id: `${what}${Name}`,
        audit: { action: kind ? `${kind}.${what}` : "operation.cancel" },
        tag,
        summary,
        description,
        scope: "admin",
        request: { path: byId, body: noBody },
        answers: { 200: answer },
        problems: ["not_found", "operation_over"],
      },
      async ({ deps, tenant, path: { id } }) => {
        const outcome = await steerOperation(deps, tenant, id, what, kind);
        if (outcome.kind === "unknown") return unknown(`${name} with this id`);
        if (outcome.kind === "over") throw new ProblemError("operation_over", `The ${name} is ${outcome.row.status}`);
        return show(outcome.row);
      },
    );

  return { list, get, steering };
}
