import { isUtf16 } from "@atlasqueue/contract";
import { ProblemError } from "../answers/problem.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** JSON in UTF-8, as text and as what it says. Throws `malformed_json`; `what` it is said of, such as "The body". */
export function parseJson(bytes: Uint8Array, what = "The body"): { text: string; value: unknown } {
  const text = decode(bytes, what);
  try {
    return { text, value: JSON.parse(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProblemError("malformed_json", text === "" ? `${what} is empty` : reason.slice(0, 200).toWellFormed());
  }
}

function decode(bytes: Uint8Array, what: string): string {
  if (isUtf16(bytes)) throw new ProblemError("malformed_json", `${what} is UTF-16, not UTF-8`);
  try {
    // A byte order mark is skipped, as RFC 8259 allows.
    return decoder.decode(bytes);
  } catch {
    throw new ProblemError("malformed_json", `${what} is not valid UTF-8`);
  }
}
