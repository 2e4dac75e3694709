import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { mainFile } from "./run-start.ts";
import type { McpWorld, Transport } from "./mcp-world.ts";

export type Message = { method: string; params?: Record<string, unknown> };
export type Reply = { result?: Record<string, unknown>; error?: { code: number; message: string; data?: unknown } };

/** Sends messages as they are: the SDK's client knows no tasks, and takes them for mistakes. */
export type Raw = { ask(message: Message): Promise<Reply>; close(): void };

export const open: Record<Transport, (world: McpWorld, token: string) => Raw> = {
  http: ({ api }, token) => ({
    async ask({ method, params = {} }) {
      const name = params.name ?? params.taskId;
      const response = await fetch(`${api.url}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(typeof name === "string" ? { "mcp-name": name } : {}),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return (await response.json()) as Reply;
    },
    close: () => {},
  }),
  stdio: ({ api }, token) => {
    const env = { PATH: process.env.PATH ?? "", ATLASQUEUE_URL: api.url, ATLASQUEUE_TOKEN: token };
    const server = spawn(process.execPath, [mainFile, "mcp"], { env, stdio: ["pipe", "pipe", "inherit"] });
    const waiting = new Map<number, (reply: Reply) => void>();
    createInterface({ input: server.stdout }).on("line", (line) => {
      const reply = JSON.parse(line) as Reply & { id: number };
      waiting.get(reply.id)?.(reply);
    });
    let id = 0;
    return {
      ask: (message) =>
        new Promise((resolve) => {
          waiting.set((id += 1), resolve);
          server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`);
        }),
      close: () => server.stdin.end(),
    };
  },
};
