import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { literalsIn, textsBetweenTags } from "./literals.ts";
import { breachesInMarkdown, breachesInText, rules, sentencesOf, type Breach, type Kind } from "./wording.ts";

// The style guide of CONTRIBUTING.md, as far as it can be checked, over what users read.
const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (file: string) => readFileSync(`${root}/${file}`, "utf8");
const exclude = (name: string) => /(^|\/)(node_modules|dist|test)$/.test(name);

const pages = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  ...globSync("{apps,packages}/**/*.md", { cwd: root, exclude }),
];

/** Folders whose texts reach users: of the command, the API, the dashboard, MCP and the libraries. */
const spoken = "{apps/{api,cli,dashboard,mcp,worker},packages/{client,contract,core,embedded,telemetry,worker}}/src";
const sources = globSync(`${spoken}/**/*.{ts,tsx}`, { cwd: root, exclude }).filter(
  (file) => !/\.test\.tsx?$/.test(file),
);

/** Statements in SQL, scripts in Lua and pages in HTML are no sentences. */
const code =
  /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|CASE WHEN|WHERE|FROM)\b|\$\d|^\s*(local|redis\.call|<!doctype)\b/m;

const kinds: Kind[] = ["phrases", "sentences", "rows"];

const breaches: (Breach & { file: string })[] = [
  ...pages.flatMap((file) => breachesInMarkdown(read(file)).map((breach) => ({ ...breach, file }))),
  ...sources.flatMap((file) => breachesInSource(file).map((breach) => ({ ...breach, file }))),
];

/** In texts of four words or more: shorter ones are names. */
function breachesInSource(file: string): Breach[] {
  const source = read(file);
  return [...literalsIn(source), ...(file.endsWith(".tsx") ? textsBetweenTags(source) : [])]
    .filter(({ text }) => text.trim().split(/\s+/).length >= 4)
    .filter(({ text }) => !code.test(text))
    .flatMap(({ text, line }) => breachesInText(text, line));
}

test.each(kinds)("no page and no source has %s that break the style guide", (kind) => {
  const found = breaches.filter((breach) => breach.kind === kind);
  expect(found.map(({ file, line, text }) => `${file}:${line} ${text}`).join("\n"), rules[kind]).toBe("");
});

test.each([
  ["README.md", 12_000, 200],
  ["CHANGELOG.md", 12_000, Infinity],
])("%s has at most %d bytes and %d lines", (file, bytes_max, lines_max) => {
  const text = read(file);
  expect(Buffer.byteLength(text), "bytes").toBeLessThanOrEqual(bytes_max);
  expect(text.trimEnd().split("\n").length, "lines").toBeLessThanOrEqual(lines_max);
});

const words = (count: number) => `${"word ".repeat(count - 1)}end.`;
const found = (page: string) => breachesInMarkdown(page).map(({ kind, line }) => `${kind} ${line}`);

test("a sentence may have 40 words, over as many lines as it takes", () => {
  expect(found(`First.\n\n${words(40)}\n`)).toEqual([]);
  expect(found(`First.\n\n${words(41)}\n`)).toEqual(["sentences 3"]);
  expect(found(`A start. ${words(21).replace(".", "")}\n${words(20)} The rest.`)).toEqual(["sentences 1"]);
  expect(found(`A start.\nMore. ${words(41)}`)).toEqual(["sentences 2"]);
});

test("headings, items and paragraphs end a sentence", () => {
  const half = words(30).replace(".", "");
  expect(found(`# ${half}\n${half}\n\n- ${half}\n- ${half}\n  1. ${half}\n\n${half}\n> ${half}.`)).toEqual([
    "sentences 8",
  ]);
});

test("an abbreviation, a version and a file's name end no sentence", () => {
  const texts = ["It stops, e.g. A or B, i.e. Two.", "On 0.1.0 it runs main.ts. Next.", "Why? (Because.) `…` does."];
  expect(texts.map((text) => sentencesOf(text).length)).toEqual([1, 2, 3]);
});

test("code blocks, comments and code in a line are left out", () => {
  expect(found(`\`\`\`sh\nnobody ${words(50)}\n\`\`\`\n`)).toEqual([]);
  expect(found(`- Item:\n\n  ~~~\n  ${words(50)}\n  ~~~\n\nIt waits in\nvain.`)).toEqual(["phrases 7"]);
  expect(found(`<!-- ${words(50)} -->\nRun as \`nobody\`: \`${words(50)}\`.`)).toEqual([]);
});

test("a table row may have 160 columns, and its words are no sentence", () => {
  const row = (columns: number) => `| ${"ü ".repeat((columns - 3) / 2)}`.padEnd(columns - 1) + "|";
  expect(found(`Text.\n\n${row(160)}\n`)).toEqual([]);
  expect(found(`Text.\n\n${row(161)}\n`)).toEqual(["rows 3"]);
  expect(found(`\`\`\`\n${row(161)}\n\`\`\`\n`)).toEqual([]);
});

test("each banned phrase is found, in either case and across a line", () => {
  const phrases = ["Whoever", "whosesoever", "Nobody", "somebody", "poorer", "said a word", "a word of", "told of"];
  const all = [...phrases, "is told", "are\ntold", "in vain", "hangs on"];
  expect(all.map((phrase) => breachesInText(`It ${phrase} it.`).length)).toEqual(all.map(() => 1));
  expect(breachesInText("The told officer hangs one in vein.")).toEqual([]);
});

test("literals are found with their lines, joined and without what is no text", () => {
  const source = [
    "const a = 'it\\'s';  // \"a comment\"",
    "/* 'another' */ fail(`no ${kind(`inner ${x}`)} here` +",
    '  " and more");',
    'const b = text.replace(/["\'`/]/g, "quote") + c / d;',
    'const e = { f: "last" };',
  ].join("\n");
  expect(literalsIn(source)).toEqual([
    { text: "it's", line: 1 },
    { text: "inner `…`", line: 2 },
    { text: "no `…` here and more", line: 2 },
    { text: "quote", line: 4 },
    { text: "last", line: 5 },
  ]);
});

test("texts between tags are found, and code between braces is not", () => {
  const source = "<p>\n  Jobs that wait.\n  {count} of them\n</p>;\nif (a) { b = c(d); } // <i>no</i>";
  expect(textsBetweenTags(source).map(({ text, line }) => `${line} ${text}`)).toEqual([
    "2 Jobs that wait.",
    "3 of them",
  ]);
});
