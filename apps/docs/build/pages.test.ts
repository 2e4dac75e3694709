import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { explanationCodes, explanationLink, problemsNow, runbookLink } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { readPages } from "./pages.ts";
import { slug } from "./slug.ts";

// What a page names exists. The pages under reference are held to the code by a test of their own.
const root = fileURLToPath(new URL("../../..", import.meta.url));
const pages = readPages();
const textOf = (path: string) => pages.find((page) => page.path === path)?.text ?? "";
const withoutBlocks = (text: string) => text.replaceAll(/^ *```.*?^ *```$/gms, "");
const each = pages.map(({ path, text }) => [path, text] as const);

test.each(each)("%s has at most 150 lines", (_path, text) => {
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});

/** The anchors of a page's headings; a second heading of the same name gets `-1`. */
function anchorsOf(path: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(textOf(path)).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => {
    const anchor = slug(title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

test.each(each)("every link in %s leads to a page and a heading", (path, text) => {
  const broken = [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = "", anchor] = target.split("#");
    const to = file === "" ? path : normalize(join(dirname(path), file));
    if (!pages.some((page) => page.path === to)) return [target];
    return anchor === undefined || anchorsOf(to).includes(anchor) ? [] : [target];
  });
  expect(broken).toEqual([]);
});

test.each([...problemsNow.map(runbookLink), ...explanationCodes.map(explanationLink)])(
  "the dashboard's link to %s leads to a page and a heading",
  (link) => {
    const [page = "", anchor] = link.replace("/guide/", "").split("#");
    expect(textOf(`${page}.md`)).not.toBe("");
    if (anchor !== undefined) expect(anchorsOf(`${page}.md`)).toContain(anchor);
  },
);

/** Everything that looks like a name of ours in what is shipped. */
function namesInSources(): Set<string> {
  const folders = "{apps/*/src,packages/*/src,packages/deploy,packages/python,drizzle}";
  const files = globSync([`${folders}/**/*.{ts,tsx,py,toml,sql,yaml,json,ini,cfg,sh}`, "docker-compose.yml"], {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|dist|meta)$/.test(name),
  });
  const texts = files
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .map((file) => readFileSync(join(root, file), "utf8"));
  // Some metrics and log events are put together from parts: the reference has them whole.
  const reference = ["metrics", "log-events", "settings", "limits"].map((name) => textOf(`reference/${name}.md`));
  return new Set(
    [...texts, ...reference].flatMap((text) => text.match(/[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+/g) ?? []),
  );
}
const known = namesInSources();

/** Names of other programs, and words that a reader replaces. */
const foreign = new RegExp(
  `^(${[
    "OTEL_\\w+|POSTGRES_\\w+|pg_\\w+|process_\\w+|nodejs_\\w+|\\w+_(bucket|sum|count)",
    "(DATABASE_URL|REDIS_URL|ADMIN_SECRET|ATLASQUEUE_TOKEN|WEBHOOK_SECRETS)_FILE|(JOB|FLOW|REPLAY|OPERATION|TOKEN)_ID|ON_ERROR_STOP",
    "claude_desktop_config|mcp_config|context_servers|test_1",
    "hot_standby_feedback|connection_limit|channel_binding|query_timeout|wal_level",
    "cl_waiting|server_reset_query|ignore_startup_parameters|client_encoding",
  ].join("|")})$`,
);
/** Pages about other queues have their names. */
const about_others = /^(migrate|compare)\//;

test.each(each.filter(([path]) => !about_others.test(path)))(
  "every setting, field, code, event and metric in %s exists",
  (_path, text) => {
    const told = [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].flatMap(
      ([, code = ""]) => code.match(/(?<![\w-])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![\w-])/g) ?? [],
    );
    expect(told.filter((name) => !known.has(name) && !foreign.test(name))).toEqual([]);
  },
);

test.each(each)("every problem type in %s exists", (_path, text) => {
  const types: readonly string[] = textOf("reference/errors.md").match(/\/problems\/[a-z-]+/g) ?? [];
  expect((text.match(/\/problems\/[a-z-]+/g) ?? []).filter((type) => !types.includes(type))).toEqual([]);
});

/** The options of each command, by its words, as reference/cli.md lists them. */
const commands = new Map<string, string[]>(
  [...textOf("reference/cli.md").matchAll(/^- `([a-z ]+?)(?: [[<].*?)?`: (.*)$/gm)].map(([, words = "", rest = ""]) => [
    words,
    [...(rest.match(/--[a-z-]+/g) ?? [])],
  ]),
);
const everywhere = ["--url", "--json", "--yes", "--help", "--version"];

/** What is wrong with a command line, or nothing. */
function faultOf(line: string): string[] {
  const [first = "", second = "", ...rest] = line.trim().split(/\s+/);
  if (first === "" || first.startsWith("-") || first === "…" || /^[A-Z]+$/.test(first)) return [];
  const words = [`${first} ${second}`, first].find((name) => commands.has(name));
  const group = [...commands.keys()].some((name) => name.startsWith(`${first} `));
  if (words === undefined) return group && !/^[a-z]+$/.test(second) ? [] : [line];
  const options = [second, ...rest].join(" ").match(/(?<![\w'"-])--[a-z][a-z-]*/g) ?? [];
  const wrong = options.filter((option) => ![...(commands.get(words) ?? []), ...everywhere].includes(option));
  return wrong.map((option) => `${words} has no ${option}`);
}

test.each(each)("every command and option in %s exists", (_path, text) => {
  const blocks = [...text.matchAll(/^ *```(?:sh|bash)\n(.*?)^ *```$/gms)].flatMap(([, block = ""]) =>
    block.replaceAll("\\\n", " ").split("\n"),
  );
  const inline = [...withoutBlocks(text).matchAll(/`(atlasqueue [^`]+)`/g)].map(([, code = ""]) => code);
  const lines = [...blocks, ...inline].flatMap((line) =>
    [...line.matchAll(/(?:^|[;|&(] *|npx (?:-y )?|\$\()(?:[A-Z_]+=\S* )*atlasqueue ([^|;&)#<>]*)/g)].map(
      ([, rest = ""]) => rest,
    ),
  );
  expect(lines.flatMap(faultOf)).toEqual([]);
});
