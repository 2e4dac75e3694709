import { defaultToolsets, jsonRpcAnswer, jsonRpcMessage, mcpQuery, type JsonRpcAnswer } from "@atlasqueue/contract";
import { version } from "../docs/version.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { exampleId } from "../route/examples.ts";
import { route } from "../route/route.ts";

const refused = (why: string) => ({
  description: why,
  schema: jsonRpcAnswer,
  example: { jsonrpc: "2.0" as const, id: 1, error: { code: -32_601, message: "Method not found" } },
});

const message = route(
  {
    at: "POST /mcp",
    id: "mcp",
    tag: "MCP",
    summary: "Send an MCP message",
    description:
      "One message of the Model Context Protocol, 2026-07-28, and its answer; clients of the protocols before it are " +
      "served too. There are no sessions and no streams. The tools ask the operations above in the caller's name, so what " +
      "a token may do there, it may do here. `toolsets` chooses the tools: `read` and `operate` if it is left out.",
    scope: ["submit", "read", "work"],
    // What its tools ask counts where they ask it.
    gate: "own",
    request: {
      query: mcpQuery,
      body: {
        schema: jsonRpcMessage,
        example: { jsonrpc: "2.0", id: 1, method: "tools/list" },
        foreign: {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "get_job_details", arguments: { job_id: exampleId } },
        },
      },
    },
    answers: {
      200: {
        description: "The answer: a result, or an error.",
        schema: jsonRpcAnswer,
        example: { jsonrpc: "2.0", id: 1, result: { tools: [] } },
      },
      202: { description: "A notification: there is nothing to answer." },
      400: refused("Not JSON, a batch, or a message that MCP does not allow, or not in this version."),
      404: refused("A method that there is not."),
    },
  },
  async ({ deps, query, body, itself, hungUp }) => {
    const { url, headers, fetch } = itself();
    const bugs: unknown[] = [];
    const signal = hungUp();
    const options = {
      // A database that is away is the caller's to wait for.
      reach: { url, fetch, retry_ms_max: 0 },
      toolsets: query.toolsets ?? defaultToolsets,
      version,
      report: (error: unknown) => void bugs.push(error),
      stopping: deps.finishedWaits.closing,
    };
    // Loaded when the first one speaks it: the API starts without.
    const { answerMessage } = await import("@atlasqueue/mcp");
    const { status, body: answer } = await answerMessage(options, { headers, body, signal });
    // Nobody is there to read it; what was under way for them has ended.
    if (signal.aborted)
      throw signal.reason instanceof ProblemError
        ? signal.reason
        : new ProblemError("request_timeout", "The caller hung up");
    if (bugs.length > 0) throw bugs[0];
    if (status === 202) return { status, body: undefined };
    if (status === 200 || status === 400 || status === 404) return { status, body: answer as JsonRpcAnswer };
    throw new Error(`MCP answered with ${status}: ${JSON.stringify(answer)}`);
  },
);

/** The queue as tools: see apps/mcp. */
export const mcpRoutes = [message];
