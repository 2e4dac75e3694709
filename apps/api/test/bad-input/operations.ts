import type { Operation } from "../../src/route/operation.ts";
import { loc, refused, type Row, type Sent, type Step } from "./row.ts";

const json = "Content-Type: application/json";
const lines = "Content-Type: application/x-ndjson";

/** What no operation accepts, for every operation there is, built from each one's own description. */
export function operationRows(operations: readonly Operation[]): Row[] {
  // Without its secret, provisioning refuses everything else first.
  const reading = operations.filter(({ scope, any_query }) => scope !== undefined && !any_query);
  return [
    ...methodRows(operations),
    ...reading.filter(({ path }) => path.includes("{")).map(badPath),
    ...reading.map(strangeParameter),
    ...reading
      .filter(({ request }) => request?.body && !request.body.lines)
      .flatMap((one) => [noJson(one), halfJson(one), strangeField(one)]),
    ...reading.filter(({ request }) => request?.body?.lines).flatMap(lineRows),
  ];
}

/** The path with plausible names, or others. */
function targetOf({ path }: Operation, names: Record<string, string> = {}): string {
  const usual: Record<string, string> = {
    id: "01920000-0000-7000-8000-000000000000",
    queue: "default",
    name: "nightly",
  };
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => names[name] ?? usual[name] ?? "none");
}

const sent = (operation: Operation, target: string, body?: string, headers: string[] = []): Sent => ({
  method: operation.method.toUpperCase(),
  target,
  headers,
  ...(body !== undefined && { body }),
});

function row(number: number, operation: Operation, what: string, step: Step): Row {
  const column = operation.tag === "OpenQueue" ? { openqueue: [step] } : { v1: [step] };
  return { row: number, what: `${operation.id} with ${what}`, ...column };
}

/** How a surface names a place. */
function placed(operation: Operation, place: string, name: string): string {
  if (operation.tag === "OpenQueue") return loc(place, name);
  return place === "body" ? `/${name}` : `${place}:${name}`;
}

function badPath(operation: Operation): Row {
  const [, name = ""] = /\{(\w+)\}/.exec(operation.path) ?? [];
  const target = targetOf(operation, { [name]: "a%20b" });
  const says = placed(operation, "path", name);
  return row(1, operation, "a blank in its path", refused(sent(operation, target), "validation", says));
}

function strangeParameter(operation: Operation): Row {
  const target = `${targetOf(operation)}?colour=red`;
  const says = placed(operation, "query", "colour");
  return row(28, operation, "a parameter that it does not have", refused(sent(operation, target), "validation", says));
}

function noJson(operation: Operation): Row {
  const send = sent(operation, targetOf(operation), "colour=red", ["Content-Type: application/x-www-form-urlencoded"]);
  return row(9, operation, "a form", refused(send, "not_json"));
}

function halfJson(operation: Operation): Row {
  return row(
    11,
    operation,
    "half a body",
    refused(sent(operation, targetOf(operation), '{"a":', [json]), "malformed_json"),
  );
}

function strangeField(operation: Operation): Row {
  const send = sent(operation, targetOf(operation), '{"colour":"red"}', [json]);
  const says = placed(operation, "body", "colour");
  return row(19, operation, "a field that it does not have", refused(send, "validation", says));
}

/** What is wrong with a line is told in its answer, and everything else as anywhere. */
function lineRows(operation: Operation): Row[] {
  const send = (body: string, type = lines) => sent(operation, targetOf(operation), body, [type]);
  const told = (body: string, says: string): Step => ({ send: send(body), status: 200, says });
  return [
    row(9, operation, "JSON", refused(send('{"a":1}', json), "not_lines")),
    row(9, operation, "gzip", {
      ...refused({ ...send("x"), headers: [lines, "Content-Encoding: gzip"] }, "not_lines"),
    }),
    row(11, operation, "half a line", told('{"a":', "/problems/malformed-json")),
    row(12, operation, "a line that is a list", told("[]", "must be a JSON object")),
    row(13, operation, "two documents in a line", told('{"a":1} {"a":1}', "/problems/malformed-json")),
    row(19, operation, "a field that it does not have", told('{"colour":"red"}', "/colour")),
  ];
}

/** A method that no operation with this path has: `/v1/jobs/batch` may also be a job's path. */
function methodRows(operations: readonly Operation[]): Row[] {
  return operations.map((operation) => {
    const target = targetOf(operation);
    const methods = operations.filter((one) => patternOf(one).test(target)).map(({ method }) => method.toUpperCase());
    const allow = [...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : [])])].toSorted().join(", ");
    const send = { ...sent(operation, target), method: "PATCH" };
    return row(4, operation, "another method", { ...refused(send, "method_not_allowed"), headers: { allow } });
  });
}

const patternOf = ({ path }: Operation) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
