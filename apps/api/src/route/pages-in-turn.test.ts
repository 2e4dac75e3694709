import { eventually } from "@atlasqueue/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { testApp } from "../../test/test-app.ts";
import { routeDeps } from "../app.ts";
import { route } from "./route.ts";
import { addRoutes } from "./serve.ts";

const count = 5;

test("pages that are read at the same moment are written in separate turns of the event loop", async () => {
  const api = await testApp();
  onTestFinished(() => api.stop());
  let turns = 0;
  let over = false;
  const turn = () => {
    turns += 1;
    if (!over) setImmediate(turn);
  };
  const read = Promise.withResolvers<void>();
  let waiting = 0;
  const written_in: number[] = [];
  const page = { toJSON: () => `turn ${written_in.push(turns)}` } as unknown as string;
  const pages = route(
    {
      tag: "Jobs",
      summary: "A route of a test",
      problems: [],
      method: "get",
      path: "/v1/pages",
      id: "getPages",
      any_query: true,
      reads: () => 1,
      answers: { 200: { description: "A page.", schema: z.object({ page: z.string() }) } },
    },
    async () => {
      waiting += 1;
      await read.promise;
      return { page };
    },
  );
  addRoutes(api.app, [pages], routeDeps(api.deps));
  const answers = Array.from({ length: count }, () => api.get("/v1/pages"));
  await eventually(() => expect(waiting).toBe(count));
  turn();
  read.resolve();
  for (const answer of answers) expect((await answer).status).toBe(200);
  over = true;
  expect(written_in).toHaveLength(count);
  expect(new Set(written_in).size).toBe(count);
});
