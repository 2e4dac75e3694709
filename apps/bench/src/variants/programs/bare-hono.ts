import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { asProgram } from "./as-program.ts";

// The same route with nothing behind it: the body is read as JSON, the answer is a small object.
await asProgram(async () => {
  const app = new Hono().post("/v1/jobs", async (c) => {
    const { type } = await c.req.json<{ type: string }>();
    return c.json({ id: "019aa1f9-de03-7328-b096-eaadbdcc78dd", type, status: "queued" }, 201);
  });
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 });
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return { ready: { url: `http://127.0.0.1:${port}` }, stop: async () => void server.close() };
});
