import { z } from "zod";
import { docsFileNames } from "../../docs/files.ts";
import type { Operation } from "../../route/operation.ts";

const cached = { ETag: "Changes with the content; send it back as `If-None-Match`." };
const unchanged = { description: "What the `If-None-Match` of the request names is still right." };

/** The description of the API itself. */
export const documentOperations: Operation[] = [
  {
    method: "get",
    path: "/openapi.json",
    id: "getOpenApi",
    tag: "This document",
    summary: "This document",
    answers: {
      200: {
        description: "OpenAPI 3.1.",
        schema: z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }),
        headers: cached,
      },
      304: unchanged,
    },
    problems: [],
  },
  {
    method: "get",
    path: "/docs",
    id: "getDocs",
    tag: "This document",
    summary: "This document for people",
    description: "A page that shows every operation and can try it. It loads nothing from anywhere else.",
    answers: {
      200: { description: "A page.", schema: z.string(), content_type: "text/html", headers: cached },
      304: unchanged,
    },
    problems: [],
  },
  {
    method: "get",
    path: "/docs/{file}",
    id: "getDocsFile",
    tag: "This document",
    summary: "A script, style sheet or picture of that page",
    request: { path: z.strictObject({ file: z.enum(docsFileNames).describe("a file that the page names") }) },
    answers: {
      200: { description: "The file.", schema: z.string(), content_type: "*/*", headers: cached },
      304: unchanged,
    },
    problems: ["not_found"],
  },
];
