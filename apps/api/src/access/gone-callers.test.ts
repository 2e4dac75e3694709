import { eventually, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../test/guarded-app.ts";
import { serverOf } from "../../test/test-app.ts";
import { rawSocket } from "../../test/raw-socket.ts";

const api = forFile(guardedApp);
const server = serverOf(api);

const body = '{"type":"a"}';
const head = (token: string) =>
  `POST /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n` +
  `Content-Type: application/json\r\nIdempotency-Key: ${crypto.randomUUID()}\r\nX-Request-ID: vanished\r\n` +
  `Content-Length: ${body.length}\r\n\r\n`;

test("a request whose caller is gone before its whole body was read ends", async () => {
  const { token } = await makeToken(api.deps, ["admin"], await makeTenant(api.deps));
  // The token is not known yet: to let it in takes a question, which waits.
  await api.deps.database.sql.begin(async (sql) => {
    await sql`LOCK TABLE atlasqueue.tokens IN ACCESS EXCLUSIVE MODE`;
    const socket = await rawSocket(server.port);
    await socket.writeAll(head(token) + body);
    await eventually(async () => {
      const rows = await api.deps.database.sql`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
      expect(rows).not.toHaveLength(0);
    });
    socket.end();
  });
  await eventually(() => expect(api.events).toContainEqual(expect.objectContaining({ caller_request_id: "vanished" })));
});
