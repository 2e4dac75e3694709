import * as fc from "fast-check";
import { documented } from "../against-document.ts";
import type { Operation } from "../../src/route/operation.ts";
import { hostileBytes, hostileHeader, hostileQuery, hostileSegment, mutatedJson } from "./hostile.ts";
import { validFor, type JsonSchema } from "./valid.ts";

export type FuzzedRequest = {
  /** The operation's id: a whole one would fill the screen when a test fails. */
  operation: string;
  /** Of another shape than the operation's own, so that another one, or none, may answer. */
  stray: boolean;
  method: string;
  target: string;
  headers: Record<string, string>;
  body: Uint8Array | string | undefined;
};

type Parameter = { in: string; name: string; required?: boolean; schema: JsonSchema };
type Described = { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: JsonSchema }> } };

/** Requests for one operation: good ones, good ones with one thing wrong, and bad ones. */
export function requestsFor(operation: Operation): fc.Arbitrary<FuzzedRequest> {
  const { id, method, path: template, request } = operation;
  const { parameters = [], requestBody } = documented(operation) as Described;
  const [media = "application/json", { schema } = {}] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const of = (place: string) => parameters.filter((parameter) => parameter.in === place);
  return fc
    .record({
      path: pathFor(template, of("path")),
      query: mostly(queryFor(of("query")), hostileQuery),
      headers: headersFor(of("header")),
      content_type: mostly(fc.constant(media), hostileHeader),
      body: bodyFor(schema, request?.body?.optional),
    })
    .map(({ path, query, headers, content_type, body }): FuzzedRequest => ({
      operation: id,
      method: method.toUpperCase(),
      stray: path.stray,
      target: path.text + query,
      headers: { ...headers, ...(body !== undefined && { "content-type": content_type }) },
      body: typeof body === "string" ? withKeys(headers, withTokenOf(path.text, body)) : body,
    }));
}

/** The first token is that of the job in the path, if it has one: otherwise a lease would hardly ever match. */
function withTokenOf(path: string, body: string): string {
  const [, at = "0"] = /known-id-([01])/.exec(path) ?? [];
  return body.replaceAll("known-token-0", `known-token-${at}`);
}

/** A batch has its key in the header or in each job; three times in four this one has, too. */
function withKeys(headers: Record<string, string>, body: string): string {
  if (!body.startsWith('{"jobs":[{') || body.length % 4 === 0) return body;
  try {
    const { jobs, ...rest } = JSON.parse(body) as { jobs: Record<string, unknown>[] };
    const keyed = jobs.map(({ idempotency_key = `key-${body.length}`, ...job }) =>
      "idempotency-key" in headers ? job : { ...job, idempotency_key },
    );
    return JSON.stringify({ jobs: keyed, ...rest });
  } catch {
    return body;
  }
}

const mostly = <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 5, arbitrary: good }, { weight: 1, arbitrary: bad });

function pathFor(template: string, parameters: Parameter[]): fc.Arbitrary<{ text: string; stray: boolean }> {
  if (parameters.length === 0) return fc.constant({ text: template, stray: false });
  const filled = (parts: Record<string, string>) =>
    template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => parts[name] ?? "");
  const good = fc.record(
    Object.fromEntries(
      parameters.map(({ name, schema }) => [
        name,
        validFor(schema, name).map((value) => encodeURIComponent(String(value))),
      ]),
    ),
  );
  const bad = fc.record(Object.fromEntries(parameters.map(({ name }) => [name, hostileSegment])));
  return mostly<{ text: string; stray: boolean }>(
    good.map((parts) => ({ text: filled(parts), stray: false })),
    bad.map((parts) => ({ text: filled(parts), stray: true })),
  );
}

function queryFor(parameters: Parameter[]): fc.Arbitrary<string> {
  const fields = Object.fromEntries(parameters.map(({ name, schema }) => [name, validFor(schema, name)]));
  return fc.record(fields, { requiredKeys: [] }).map((values) => {
    const texts = Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]);
    return texts.length > 0 ? `?${new URLSearchParams(texts)}` : "";
  });
}

function headersFor(parameters: Parameter[]): fc.Arbitrary<Record<string, string>> {
  const fields = Object.fromEntries(
    parameters.map(({ name, schema }) => [name, mostly(validFor(schema, name).map(String), hostileHeader)]),
  );
  const taken: Record<string, fc.Arbitrary<string>> = {
    ...fields,
    "x-request-id": hostileHeader,
    "if-none-match": hostileHeader,
  };
  return fc.record(taken, { requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name) });
}

function bodyFor(schema: JsonSchema | undefined, optional = false): fc.Arbitrary<Uint8Array | string | undefined> {
  const none = fc.constant(undefined);
  // A body where none is asked for must not matter.
  if (!schema) return fc.oneof({ weight: 8, arbitrary: none }, { weight: 1, arbitrary: hostileBytes });
  const valid = validFor(schema);
  return fc.oneof(
    { weight: 5, arbitrary: valid.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: mutatedJson(valid) },
    { weight: 1, arbitrary: hostileBytes },
    { weight: optional ? 10 : 0, arbitrary: none },
  );
}
