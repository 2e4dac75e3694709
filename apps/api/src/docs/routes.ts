import { describeFields } from "@atlasqueue/contract";
import { z } from "zod";
import { ProblemError } from "../http/answers/problem.ts";
import { route } from "../route/route.ts";
import { docsFileNames } from "./docs.ts";

const about = { method: "get", tag: "This document", gate: "own", any_query: true } as const;
const cached = { ETag: "Changes with the content; send it back as `If-None-Match`." };
const unchanged = { description: "What the request's `If-None-Match` names is still current." };

const openApi = route(
  {
    ...about,
    path: "/openapi.json",
    id: "getOpenApi",
    summary: "This document",
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        schema: describeFields(
          z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }),
          {
            openapi: "The version of OpenAPI.",
            info: "What is described.",
            paths: "The operations, by path and method.",
          },
        ),
        headers: cached,
      },
      304: unchanged,
    },
    problems: [],
  },
  ({ deps }) => deps.docs.document,
);

const page = route(
  {
    ...about,
    path: "/docs",
    id: "getDocs",
    summary: "This document for people",
    description: "A page that shows every operation and can try it. It loads nothing from elsewhere.",
    answers: {
      200: { description: "A page.", schema: z.string(), content_type: "text/html", headers: cached },
      304: unchanged,
    },
    problems: [],
  },
  ({ deps }) => deps.docs.page,
);

const file = route(
  {
    ...about,
    path: "/docs/{file}",
    id: "getDocsFile",
    summary: "A script, style sheet or picture of that page",
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

/** The description of the API itself, for programs and for people. */
export const docsRoutes = [openApi, page, file];
