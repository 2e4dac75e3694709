import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { adviceOn } from "./advice.ts";
import type { Report } from "./call-tool.ts";

/**
 * Outside of tools a failure is an error of the protocol, in the same words; a mistake of ours is reported.
 *
 * @example
 * const { scopes } = await inProtocol(client.session.get(), report);
 */
export async function inProtocol<T>(asked: Promise<T>, report: Report): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const advice = adviceOn(error);
    if (advice === undefined) report(error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, advice ?? "Something went wrong on the server's side");
  }
}
