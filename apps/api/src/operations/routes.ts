import {
  createOperation as createOperationBody,
  limits,
  operation,
  operationPage,
  operationPreview,
  type CreateOperation,
  type Operation,
} from "@atlasqueue/contract";
import { createOperation, previewOperation, showOperation } from "@atlasqueue/core/internal/http";
import { actorOf } from "../access/caller.ts";
import { whichOf } from "../audit/told.ts";
import { ProblemError } from "../http/answers/problem.ts";
import type { CursorOf } from "../http/input/cursor.ts";
import { exampleId } from "../route/examples.ts";
import { route } from "../route/route.ts";
import { steered } from "./steered.ts";

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

const askOperation = ({ body: { kind, dry_run, filter } }: { body: CreateOperation }) =>
  dry_run ? (false as const) : { detail: { kind, ...whichOf(filter ?? { all: true }) } };
const tellOperation = (_input: unknown, { body }: { body: unknown }) => {
  const { id, total } = body as Operation;
  return { target: id, count: total };
};

const create = route(
  {
    at: "POST /v1/operations",
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

const { list, get, steering } = steered({
  name: "operation",
  path: "/v1/operations",
  tag: "Jobs",
  schema: operation,
  page: operationPage,
  example,
  show: showOperation,
});

/** Operations on many jobs that go on in the background. */
export const operationRoutes = [
  create,
  list,
  get,
  steering("cancel", "Stop an operation", "Jobs that it has changed stay changed. The other jobs stay as they are."),
];
