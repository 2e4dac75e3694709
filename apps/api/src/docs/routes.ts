import { describeFields, problemPageShown } from "@atlasqueue/contract";
import { z } from "zod";
import { ProblemError } from "../http/answers/problem.ts";
import { route } from "../route/route.ts";
import { docsFileNames } from "./docs.ts";
import { problemPageNamed } from "./page.ts";

const about = { tag: "API description", gate: "own", any_query: true } as const;
const headers = { ETag: "Changes with the content; send it back as `If-None-Match`." };

/** Content that clients keep. */
const kept = <S extends z.ZodType>(description: string, schema: S, content_type?: string) => ({
  200: { description, schema, headers, ...(content_type !== undefined && { content_type }) },
  304: { description: "What the request's `If-None-Match` names is still current." },
});

const openApi = route(
  {
    ...about,
    at: "GET /openapi.json",
    id: "getOpenApi",
    summary: "Get the OpenAPI document",
    answers: kept("OpenAPI 3.1.", z.looseObject({})),
  },
  ({ deps }) => deps.docs.document,
);

const page = route(
  {
    ...about,
    at: "GET /docs",
    id: "getDocs",
    summary: "Open the API reference",
    description: "A page that shows every operation and can try it. It loads nothing from other servers.",
    answers: kept("A page.", z.string(), "text/html"),
  },
  ({ deps }) => deps.docs.page,
);

const file = route(
  {
    ...about,
    at: "GET /docs/{file}",
    id: "getDocsFile",
    summary: "Get a file of the API reference",
    request: {
      // Any text: a name that is none of these is a file that does not exist.
      path: describeFields(
        z.strictObject({ file: z.string().meta({ description: "a file that the page names", enum: docsFileNames }) }),
        { file: "The file's name." },
      ),
    },
    answers: kept("The file.", z.string(), "*/*"),
    problems: ["not_found"],
  },
  ({ deps, path }) => {
    const found = deps.docs.file(path.file);
    if (!found) throw new ProblemError("not_found", "The documentation has no such file");
    return found;
  },
);

const problem = route(
  {
    ...about,
    at: "GET /problems/{kind}",
    id: "getProblem",
    summary: "Explain a problem",
    description: "The `type` of every problem leads here. Browsers get a page.",
    request: { path: describeFields(z.strictObject({ kind: z.string() }), { kind: "The last part of the `type`." }) },
    answers: kept("Its meaning and what to do.", problemPageShown),
    problems: ["not_found"],
  },
  ({ path }) => {
    const found = problemPageNamed.get(path.kind);
    if (!found) throw new ProblemError("not_found", "There is no problem of this kind");
    return found;
  },
);

/** The description of the API itself, for programs and for people. */
export const docsRoutes = [openApi, page, file, problem];
