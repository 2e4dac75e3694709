import { listParentsQuery, parentPage } from "@atlasqueue/contract";
import { parentsPage } from "@atlasqueue/core/internal";
import { findJob } from "@atlasqueue/core/internal/http";
import { unknownJob } from "../http/answers/problem.ts";
import { exampleParents } from "../route/examples.ts";
import { jobPath, ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

const items = Object.entries(exampleParents.parents).map(([ref, parent]) => ({ ref, ...parent }));

export const parents = route(
  {
    at: "GET /v1/jobs/{id}/parents",
    id: "listParents",
    tag: "Jobs",
    summary: "List a job's parents",
    description:
      "With their results, in the order of the request. A page ends after about 1 MiB of results. One with " +
      "`result_gone` was removed, or its result was, as it was from before the flow and its time had come.",
    scope: "read",
    request: { path: jobPath, query: listParentsQuery },
    answers: ok("A page. It may be short and still have a `next_cursor`; null means there is no more.", parentPage, {
      items,
      next_cursor: null,
    }),
    problems: ["not_found"],
  },
  async ({ deps, tenant, path: { id }, query: { limit, cursor } }) => {
    const page = deps.cursors.page({ list: "parents", tenant, filter: { id } }, cursor);
    const { items: found, next } = await parentsPage(deps, tenant, id, Number(page.after ?? 0), limit);
    if (found.length === 0 && !(await findJob(deps, tenant, id))) unknownJob();
    return { items: found, next_cursor: page.next(next?.toString()) };
  },
);
