import { problemHtml, problemPage, problems, type ProblemKind } from "@atlasqueue/contract";
import { policyOf } from "../dashboard/guards.ts";
import { fixed } from "../http/answers/cached.ts";

/** Swagger UI sets styles and draws icons from data: URLs. */
export const docsPolicy = policyOf("'self' 'unsafe-inline'");

// Relative addresses, so that it works behind a proxy that adds a prefix.
export const docsPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>AtlasQueue API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="icon" type="image/svg+xml" href="docs/icon.svg" />
  </head>
  <body style="margin: 0">
    <p style="margin: 1em 20px; font-family: sans-serif"><a href="guide/">Guides and reference</a></p>
    <div id="api"></div>
    <noscript>This page needs JavaScript; <a href="openapi.json">openapi.json</a> says the same without.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

export const startScript = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#api",
  deepLinking: true,
  displayRequestDuration: true,
  // Else it would send the document to a validator of its makers.
  validatorUrl: null,
});
`;

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
  <rect width="16" height="16" rx="3" fill="#1f4e79" />
  <path d="M4 5h8M4 8h8M4 11h5" stroke="#fff" stroke-width="1.6" stroke-linecap="round" />
</svg>
`;

/** What each problem means, by the last part of its `type`. */
export const problemPageNamed = new Map(
  (Object.keys(problems) as ProblemKind[]).map((kind) => {
    const html = fixed(problemHtml(kind), "text/html; charset=utf-8", { "content-security-policy": docsPolicy });
    return [kind.replaceAll("_", "-"), { ...fixed(JSON.stringify(problemPage(kind)), "application/json"), html }];
  }),
);
