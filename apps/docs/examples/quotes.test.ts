import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// The pages show examples as they run here, and files of the repository. After a change, `QUOTES=update` copies them into
// the pages.
const docs = fileURLToPath(new URL("..", import.meta.url));
const quote = /(<!-- (example|file): (\S+) -->\n\n```\w+\n)([\s\S]*?)(```)/g;
const read = (file: string) => readFileSync(`${docs}/${file}`, "utf8");
const source = (kind: string, file: string) => read(kind === "example" ? `examples/${file}` : `../../${file}`);
const pages = globSync("pages/**/*.md", { cwd: docs });
if (process.env["QUOTES"] === "update")
  for (const page of pages)
    writeFileSync(
      `${docs}/${page}`,
      read(page).replaceAll(quote, (_, head: string, kind: string, file: string, _text, tail: string) =>
        [head, source(kind, file), tail].join(""),
      ),
    );
const quotes = pages.flatMap((page) =>
  [...read(page).matchAll(quote)].map(([, , kind = "", file = "", text]) => [page, file, kind, text] as const),
);

test.each(quotes)("%s shows %s as it runs", (_page, file, kind, text) => {
  expect(text).toBe(source(kind, file));
});

test("every example is shown on a page", () => {
  const examples = globSync(["*/*.ts", "{celery,fastapi}/*.py", "django/shop/**/*.py"], {
    cwd: `${docs}/examples`,
    exclude: ["**/*.test.ts", "**/test_server.py", "**/{__init__,models}.py"],
  });
  const shown = quotes.filter(([, , kind]) => kind === "example").map(([, file]) => file);
  expect(examples.filter((file) => !shown.includes(file))).toEqual([]);
});
