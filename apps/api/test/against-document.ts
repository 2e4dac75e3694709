import { problemType } from "@atlasqueue/contract";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { openApiDocument, type OpenApiDocument } from "../src/openapi/document.ts";
import type { Operation } from "../src/route/operation.ts";
import { operations } from "../src/routes.ts";
import { problemsOf } from "../src/openapi/problems.ts";

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
formats.default(ajv);
export const document: OpenApiDocument = openApiDocument(operations);
ajv.addSchema(document, "openapi");

const compiled = new Map<string, ValidateFunction>();

/** A check against the schema at a place of the document, given as the keys that lead there. */
export function schemaAt(...keys: string[]): (value: unknown) => string[] {
  const pointer = keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const reference = `openapi#${pointer.split("/").map(encodeURIComponent).join("/")}`;
  const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, validate);
  return (value) =>
    validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

export function operationNamed(id: string): Operation {
  const found = operations.find((operation) => operation.id === id);
  if (!found) throw new Error(`There is no operation ${id}`);
  return found;
}

const paths = operations
  .map((operation) => ({ operation, pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`) }))
  // A path without parameters goes first: `/v1/jobs/batch` could be a job's.
  .toSorted((one, other) => one.operation.path.split("{").length - other.operation.path.split("{").length);

/** The operation that a request is to, if it is to any. */
const operationOf = (method: string, path: string): Operation | undefined =>
  paths.find(({ operation, pattern }) => operation.method === method.toLowerCase() && pattern.test(path))?.operation;

type Content = Record<string, { schema: unknown; example?: unknown; examples?: Record<string, { value: unknown }> }>;
type Documented = {
  parameters?: { in: string; name: string; required?: boolean; schema: unknown }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content; headers?: Record<string, { required?: boolean }> }>;
};

/** What the document says of an operation. */
export function documented({ path, method }: Pick<Operation, "path" | "method">): Documented {
  const found = document.paths?.[path]?.[method];
  if (!found) throw new Error(`The document has no ${method} ${path}`);
  return found as unknown as Documented;
}

/** Every way an answer differs from what the document says of its operation; an empty list when it matches. */
export async function faultsOfAnswer(operation: Operation, response: Response): Promise<string[]> {
  const { method, path } = operation;
  const status = String(response.status);
  const said = documented(operation).responses[status];
  const body = await response.clone().text();
  if (!said) return [`${method} ${path} is not said to answer ${status}: ${body.slice(0, 500)}`];
  const faults = Object.entries(said.headers ?? {})
    .filter(([name, { required }]) => required && !response.headers.has(name))
    .map(([name]) => `the header ${name} is missing`);
  if (!response.headers.get("x-request-id")) faults.push("there is no request id");
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const media = Object.keys(said.content ?? {}).find((one) => one === type || one === "*/*");
  if (media === undefined) {
    if (body !== "") faults.push(`${type} is not said to be an answer with ${status}`);
  } else if (type.endsWith("json") && media !== "*/*") {
    const fits = schemaAt("paths", path, method, "responses", status, "content", media, "schema");
    if (type === "application/x-ndjson") return [...faults, ...linesOf(body).flatMap(fits)];
    const value: unknown = JSON.parse(body);
    faults.push(...fits(value));
    if (response.status >= 400 && type === "application/problem+json")
      faults.push(...faultsOfProblem(operation, response, value));
  }
  return faults;
}

/** The same for an answer to any request. One that is not JSON, such as a stream, is left to its reader. */
export async function faultsOfRequest(method: string, target: string, response: Response): Promise<string[]> {
  const operation = operationOf(method, target.replace(/^https?:\/\/[^/]+/, "").replace(/\?.*/, ""));
  const isJson = /^application\/(problem\+)?json/.test(response.headers.get("content-type") ?? "");
  return operation && isJson ? faultsOfAnswer(operation, response) : [];
}

type Requestable = {
  request: (input: string | Request | URL, init?: RequestInit, ...rest: never[]) => Response | Promise<Response>;
};

/**
 * The same app, which fails a test whose request is not answered as the document says. So each test of an operation is
 * one of its description.
 */
export function asDocumented<App extends Requestable>(app: App): App {
  const request: Requestable["request"] = async (input, init, ...rest) => {
    const response = await app.request(input, init, ...rest);
    const { url, method } = input instanceof Request ? input : { url: String(input), method: init?.method ?? "GET" };
    const faults = await faultsOfRequest(method, url, response);
    if (faults.length > 0) throw new Error(`${method} ${url} is not answered as documented: ${faults.join("; ")}`);
    return response;
  };
  return new Proxy(app, { get: (of, name) => (name === "request" ? request : (Reflect.get(of, name) as unknown)) });
}

/** The values of an answer with one in each line. */
const linesOf = (body: string) =>
  body
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

function faultsOfProblem(operation: Operation, response: Response, value: unknown): string[] {
  const { type, instance, status } = value as { type: string; instance: string; status: number };
  const faults: string[] = [];
  const kinds = problemsOf(operation).map(problemType);
  if (!kinds.includes(type)) faults.push(`the problem ${type} is not said to be an answer`);
  if (instance !== response.headers.get("x-request-id")) faults.push("the instance is not the request id");
  if (status !== response.status) faults.push("the status in the body is another");
  return faults;
}
