import { beforeAll, expect, test } from "vitest";
import { pages_folder, readPages } from "../build/pages.ts";
import { blocks, blocksIn, withBlocks } from "./blocks.ts";

// After a change of the code: `npx -y pnpm docs:reference` writes the pages anew.
const pages = readPages().filter(({ text }) => blocksIn(text).length > 0);
let known: Record<string, string>;
beforeAll(async () => void (known = await blocks()));

test.each(pages.map(({ path, text }) => [path, text] as const))("%s says what the code says", async (path, text) => {
  await expect(withBlocks(text, known)).toMatchFileSnapshot(`${pages_folder}/${path}`);
});

test("every block is on a page", () => {
  const used = pages.flatMap(({ text }) => blocksIn(text));
  expect(used.toSorted()).toEqual(Object.keys(known).toSorted());
});
