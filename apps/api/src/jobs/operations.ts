import {
  createOperation as createOperationBody,
  jobId,
  limits,
  listOperationsQuery,
  operation,
  operationPage,
  operationPreview,
  type CreateOperation,
  type JsonObject,
  type Operation,
  describeFields,
} from "@atlasqueue/contract";
import {
  createOperation,
  findOperation,
  listOperations,
  previewOperation,
  showOperation,
  steerOperation,
} from "@atlasqueue/core/internal/http";
import { z } from "zod";
import { actorOf } from "../access/actor.ts";
import { ProblemError } from "../http/answers/problem.ts";
import type { CursorOf } from "../http/input/cursor.ts";
import { exampleId } from "../route/examples.ts";
import { noBody } from "../route/operation.ts";
import { route } from "../route/route.ts";

const path = describeFields(z.strictObject({ id: jobId }), { id: "The operation's id." });

const example: Operation = {
  id: exampleId,
  kind: "cancel",
  status: "running",
  filter: { queue: "mails" },
  total: 150_000,
  total_complete: true,
  done: 12_000,
  failed: 0,
  created_by: { kind: "token", token_id: exampleId, name: "ops" },
  created_at: "2030-01-31T12:00:00.000Z",
  updated_at: "2030-01-31T12:00:03.000Z",
  finished_at: null,
};

function askOperation({ body: { kind, dry_run, filter } }: { body: CreateOperation }) {
  const which = JSON.parse(JSON.stringify(filter ?? { all: true })) as JsonObject;
  return dry_run ? (false as const) : { detail: { kind, ...which } };
}
const tellOperation = (_input: unknown, { body }: { body: unknown }) => {
  const { id, total } = body as Operation;
  return { target: id, count: total };
};

const create = route(
  {
    method: "post",
    path: "/v1/operations",
    id: "createOperation",
    audit: { action: "operation.create", asks: askOperation, tells: tellOperation },
    tag: "Jobs",
    summary: "Start a bulk operation",
    description:
      "The jobs that match now and can be changed so are changed page by page, newest first. Any process carries the " +
      "operation on, also after a restart. A cancel stops running jobs first. `purge` deletes all that is not running. " +
      "With `dry_run` nothing is changed: the response says how many jobs match, and its `cursor`, sent with the " +
      "operation, leaves jobs that were made after that count. `POST /v1/dlq/replays` starts a replay of dead letters.",
    scope: "admin",
    request: {
      body: {
        schema: createOperationBody,
        example: { kind: "cancel", filter: { queue: "mails", status: "queued" }, dry_run: true },
      },
    },
    answers: {
      201: { description: "The operation, which has begun.", schema: operation, example },
      200: {
        description: "What it would do.",
        schema: operationPreview,
        example: { total: 150_000, total_complete: true, cursor: "eyJiIjoiMDE5M2IzNWUifQ" },
      },
    },
    problems: ["too_many_operations"],
  },
  async ({ deps, tenant, caller, body: { kind, filter = {}, cursor, dry_run } }) => {
    const of: CursorOf = { list: "operation", tenant, filter: { kind, ...filter } };
    const wish = { tenant, kind, filter, upper: deps.cursors.read(of, cursor) };
    // A search costs far more than a list.
    const inTurn = <T>(act: () => Promise<T>) =>
      filter.search === undefined ? act() : deps.searches.hold(tenant, act);
    if (dry_run) {
      const { upper, ...counted } = await inTurn(() => previewOperation(deps, wish));
      return { status: 200, body: { ...counted, cursor: deps.cursors.write(of, upper) } };
    }
    const row = await inTurn(() => createOperation(deps, wish, actorOf(caller)));
    if (!row)
      throw new ProblemError("too_many_operations", `A tenant may have ${limits.operations_max} unfinished ones`);
    return { status: 201, body: showOperation(row) };
  },
);

const list = route(
  {
    method: "get",
    path: "/v1/operations",
    id: "listOperations",
    tag: "Jobs",
    summary: "List operations",
    description: "Those that are over are kept for 30 days. A page of large filters ends after about 4 MiB.",
    scope: "read",
    request: { query: listOperationsQuery },
    answers: {
      200: { description: "A page.", schema: operationPage, example: { items: [example], next_cursor: null } },
    },
  },
  async ({ deps, tenant, query: { limit, cursor } }) => {
    const of: CursorOf = { list: "operations", tenant, filter: {} };
    const { rows, next } = await listOperations(deps, tenant, limit, deps.cursors.read(of, cursor));
    return { items: rows.map(showOperation), next_cursor: next === undefined ? null : deps.cursors.write(of, next) };
  },
);

const get = route(
  {
    method: "get",
    path: "/v1/operations/{id}",
    id: "getOperation",
    tag: "Jobs",
    summary: "Get an operation",
    scope: "read",
    request: { path },
    answers: { 200: { description: "The operation.", schema: operation, example } },
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { id } }) =>
    showOperation((await findOperation(deps, tenant, id)) ?? unknownOperation()),
);

const cancel = route(
  {
    method: "post",
    path: "/v1/operations/{id}/cancel",
    id: "cancelOperation",
    audit: { action: "operation.cancel" },
    tag: "Jobs",
    summary: "Stop an operation",
    description: "Jobs that it has changed stay changed. The other jobs stay as they are.",
    scope: "admin",
    request: { path, body: noBody },
    answers: { 200: { description: "The operation.", schema: operation, example } },
    problems: ["not_found", "operation_over"],
  },
  async ({ deps, tenant, path: { id } }) => {
    const outcome = await steerOperation(deps, tenant, id, "cancel");
    if (outcome.kind === "unknown") return unknownOperation();
    if (outcome.kind === "over") throw new ProblemError("operation_over", `The operation is ${outcome.row.status}`);
    return showOperation(outcome.row);
  },
);

/** Operations on many jobs that go on in the background. */
export const operationRoutes = [create, list, get, cancel];

function unknownOperation(): never {
  throw new ProblemError("not_found", "There is no operation with this id");
}
