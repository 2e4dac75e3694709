import { validate, type Job } from "@atlasqueue/contract";
import type { Tool, Context } from "../tools/tool.ts";
import { marked } from "../untrusted/marked.ts";
import { visible } from "../untrusted/visible.ts";
import { adviceOn } from "./advice.ts";

/** The answer to `tools/call`. */
export type ToolAnswer = {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
};

/** A job that goes on, to be answered as a task. */
export type Started = { ongoing: Job };

/** Something that is our mistake: the model learns no more than that. */
export type Report = (error: unknown) => void;

/**
 * Check a tool's arguments, run it, and put its answer into the two forms that hosts show: typed, and as text. What is
 * wrong becomes an answer too, for the model to read and mend.
 */
export async function callTool(
  tool: Tool,
  args: unknown,
  context: Context,
  report: Report,
): Promise<ToolAnswer | Started> {
  const checked = validate(tool.input, args ?? {});
  if (checked.kind === "invalid") {
    const faults = checked.faults.map(({ pointer, message }) => `${pointer || "the arguments"} ${message}`);
    return failure(`${faults.join("; ")}. Correct it, and call ${tool.name} again.`);
  }
  try {
    const answer = await tool.run(checked.value, context);
    return "ongoing" in answer ? (answer as Started) : answerOf(marked(answer, context.cuts));
  } catch (error) {
    context.signal.throwIfAborted();
    const advice = adviceOn(error);
    if (advice !== undefined) return failure(advice);
    report(error);
    return failure(`${tool.name} failed on the server's side. Tell your user; the server's log has more.`);
  }
}

export function answerOf(data: object): ToolAnswer {
  return {
    content: [{ type: "text", text: JSON.stringify(data) }],
    structuredContent: data as Record<string, unknown>,
  };
}

function failure(text: string): ToolAnswer {
  return { content: [{ type: "text", text: visible(text) }], isError: true };
}
