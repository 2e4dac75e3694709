import { describeFields, problemPageShown } from "@atlasqueue/contract";
import { z } from "zod";
import { ProblemError } from "../http/answers/problem.ts";
import { route } from "../route/route.ts";
import { docsFileNames } from "./docs.ts";
import { problemPageNamed } from "./page.ts";

const about = { tag: "API description", gate: "own", any_query: true } as const;
const cached = { ETag: "Changes with the content; send it back as `If-None-Match`." };
const unchanged = { description: "What the request's `If-None-Match` names is still current." };

const openApi = route(
  {
    ...about,
    at: "GET /openapi.json",
    id: "getOpenApi",
    summary: "Get the OpenAPI document",
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        schema: z.looseObject({}),
        headers: cached,
      },
      304: unchanged,
    },
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
    answers: {
      200: { description: "A page.", schema: z.string(), content_type: "text/html", headers: cached },
      304: unchanged,
    },
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
    answers: {
      200: { description: "The file.", schema: z.string(), content_type: "*/*", headers: cached },
      304: unchanged,
    },
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
    answers: {
      200: { description: "Its meaning and what to do.", schema: problemPageShown, headers: cached },
      304: unchanged,
    },
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
