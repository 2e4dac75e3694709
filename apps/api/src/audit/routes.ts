import { auditPage, listAuditQuery, type AuditEntry } from "@atlasqueue/contract";
import { listActs, showAct } from "@atlasqueue/core/internal/http";
import { exampleId } from "../route/examples.ts";
import { pageOf } from "../route/answers.ts";
import { route } from "../route/route.ts";

const example: AuditEntry = {
  id: exampleId,
  at: "2030-01-31T12:00:00.000Z",
  actor: { kind: "session", token_id: exampleId, name: "ops" },
  action: "queue.pause",
  target: "mails",
  count: null,
  detail: null,
  request_id: "0c9a2f5e-8a51-4a34-9d35-1f7a5f1f6b0e",
  address: "203.0.113.7",
  refused: null,
  finished: true,
};

const list = route(
  {
    at: "GET /v1/audit",
    id: "listAudit",
    tag: "Audit",
    summary: "List audit log entries",
    description:
      "Everything that changes something, apart from submitting and working: who did it, to what, how many, when, from " +
      "which address, in which request. If the token did not allow it, `refused` is how many calls the entry stands for: " +
      "a token gets about ten such entries a minute. An entry is made before the act: `finished` is false while that is under way, and for good when its " +
      "process died in the middle. A page may be short, even empty, and still have a `next_cursor`.",
    scope: "read",
    request: { query: listAuditQuery },
    answers: pageOf(auditPage, example),
  },
  async ({ deps, tenant, query: { limit, cursor, ...filter } }) => {
    const page = deps.cursors.page({ list: "audit", tenant, filter }, cursor);
    const { rows, next } = await listActs(deps, tenant, filter, limit, page.after);
    return { items: rows.map(showAct), next_cursor: page.next(next) };
  },
);

/** The audit trail. */
export const auditRoutes = [list];
