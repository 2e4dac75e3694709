import { Validator } from "@seriousme/openapi-schema-validator";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { document, documented, schemaAt } from "../../test/against-document.ts";
import { testApp } from "../../test/test-app.ts";
import { operations } from "../routes.ts";

const api = forFile(testApp);

test("every route is in the document, and everything in the document is a route", () => {
  const routes = api.app.routes.filter(({ method }) => method !== "ALL");
  const routed = routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
  const described = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect([...new Set(routed)].toSorted()).toEqual(described.toSorted());
  expect(described).toHaveLength(operations.length);
});

test("the document is valid OpenAPI 3.1, and is what is served", async () => {
  const served = (await (await api.get("/openapi.json")).json()) as Record<string, unknown>;
  expect(served).toEqual(JSON.parse(JSON.stringify(document)));
  const validator = new Validator();
  expect(await validator.validate(served)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("no two operations have one name, and path parameters are those in the path", () => {
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  for (const { path, request } of operations)
    expect(Object.keys(request?.path?.shape ?? {}), path).toEqual(
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    );
});

/** A body has one type. */
const onlyOf = <T>(content: Record<string, T> = {}) => Object.values(content)[0];

type Shows = Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }>;

test.each(operations)("the examples of $id are valid", ({ path, method, request }) => {
  const { requestBody, responses } = documented({ path, method });
  if (request?.body) expect(onlyOf(requestBody?.content)?.example).toBeDefined();
  const contents: [string[], Shows | undefined][] = [
    [["requestBody"], requestBody?.content],
    ...Object.entries(responses).map(([status, { content }]): [string[], Shows | undefined] => [
      ["responses", status],
      content,
    ]),
  ];
  for (const [keys, content = {}] of contents)
    for (const [media, { example, examples = {} }] of Object.entries(content))
      for (const value of [example, ...Object.values(examples).map((one) => one.value)].filter(
        (one) => one !== undefined,
      ))
        expect(schemaAt("paths", path, method, ...keys, "content", media, "schema")(value)).toEqual([]);
});

/** A text that begins so says what a value is like, not what it is for. */
const restated =
  /^(an? (integer|number|string|text|list|object|JSON|UUID)|a? ?string|any JSON|one of|true or false|null|".*" or|the \w+\.$)/i;

test("every field and parameter says what it does, in sentences", () => {
  const wrong = fieldsIn(document, "").filter(
    ({ description = "" }) => !/^[`"A-Z\d].*[.!]$/.test(description) || restated.test(description),
  );
  expect(wrong.map(({ at, description }) => `${at}: ${description}`)).toEqual([]);
});

type Shown = { $ref?: string; description?: string; properties?: Record<string, Shown> };

/** Every property of a schema, and every parameter, by where it is; one that refers to a component with that one's text. */
function fieldsIn(value: unknown, at: string): { at: string; description: string | undefined }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    if (["example", "examples", "dependentSchemas"].includes(key)) return [];
    const inside = fieldsIn(inner, `${at}/${key}`);
    if (key !== "properties" && key !== "parameters") return inside;
    const fields = Object.entries(inner as Record<string, Shown | false>);
    return [
      ...fields.flatMap(([name, field]) => (field ? [{ at: `${at}/${name}`, description: textOf(field) }] : [])),
      ...inside,
    ];
  });
}

function textOf({ description, $ref }: Shown): string | undefined {
  const component = $ref?.replace("#/components/schemas/", "") ?? "";
  return description ?? (document.components?.schemas?.[component] as Shown | undefined)?.description;
}
