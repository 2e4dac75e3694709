import { defineConfig } from "vitepress";
import { belowAnyPath } from "../build/any-path.ts";
import { writeForPrograms } from "../build/for-programs.ts";
import { readPages } from "../build/pages.ts";
import { withoutInlineScripts } from "../build/scripts.ts";
import { sidebar } from "../build/sidebar.ts";
import { slug } from "../build/slug.ts";

/** Where the API serves the site, if no proxy puts a path in front. */
const base = "/guide/";
const pages = readPages();

export default defineConfig({
  title: "AtlasQueue",
  base,
  lang: "en",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "node_modules/.vitepress",
  cleanUrls: true,
  // In a file: the API's policy allows no script in the page.
  metaChunk: true,
  // A test checks all links, anchors too.
  ignoreDeadLinks: true,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${base}icon.svg` }]],
  markdown: {
    anchor: { slugify: slug },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    sidebar: sidebar(pages),
    outline: { level: [2, 3] },
    search: { provider: "local" },
  },
  transformHtml: (html, _id, { siteConfig }) => withoutInlineScripts(html, siteConfig.outDir, base),
  buildEnd: ({ outDir }) => {
    belowAnyPath(outDir, base);
    writeForPrograms(pages, outDir);
  },
});
