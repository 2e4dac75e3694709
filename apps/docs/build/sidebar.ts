import { sections } from "./order.ts";
import type { Page } from "./pages.ts";

/** The sections and their pages in reading order. Throws if `order.ts` lacks a section. */
export function inOrder(pages: readonly Page[]): { title: string; pages: Page[] }[] {
  const lost = pages.filter(({ section }) => section !== "" && !sections.some(({ folder }) => folder === section));
  if (lost[0]) throw new Error(`${lost[0].path}: build/order.ts does not name the section ${lost[0].section}`);
  return sections
    .map(({ folder, title, first }) => {
      const place = ({ path }: Page) => {
        const at = first.indexOf(path.slice(folder.length + 1, -".md".length));
        return at === -1 ? first.length : at;
      };
      const own = pages.filter(({ section }) => section === folder);
      return { title, pages: own.toSorted((one, other) => place(one) - place(other)) };
    })
    .filter((section) => section.pages.length > 0);
}

/** VitePress's sidebar. Its links begin with the site's root. */
export function sidebar(pages: readonly Page[]) {
  return inOrder(pages).map((section) => ({
    text: section.title,
    items: section.pages.map(({ path, title }) => ({ text: title, link: `/${path.replace(/(index)?\.md$/, "")}` })),
  }));
}
