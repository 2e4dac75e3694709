import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// The pages show examples as they run here. After a change, `QUOTES=update` copies them into the pages.
const docs = fileURLToPath(new URL("..", import.meta.url));
const quote = /(<!-- example: (\S+) -->\n\n```(?:ts|typescript)\n)([\s\S]*?)(```)/g;
const read = (file: string) => readFileSync(`${docs}/${file}`, "utf8");
const pages = globSync("pages/**/*.md", { cwd: docs });
if (process.env["QUOTES"] === "update")
  for (const page of pages)
    writeFileSync(
      `${docs}/${page}`,
      read(page).replaceAll(quote, (_, head: string, file: string, _text, tail: string) =>
        [head, read(`examples/${file}`), tail].join(""),
      ),
    );
const quotes = pages.flatMap((page) =>
  [...read(page).matchAll(quote)].map(([, , file = "", text]) => [page, file, text]),
);

test.each(quotes)("%s shows %s as it runs", (_page, file, text) => {
  expect(text).toBe(read(`examples/${file}`));
});

test("every example is shown on a page", () => {
  const examples = globSync("*/*.ts", { cwd: `${docs}/examples`, exclude: ["**/*.test.ts"] });
  const shown = quotes.map(([, file = ""]) => file);
  expect(examples.filter((file) => !shown.includes(file))).toEqual([]);
});
