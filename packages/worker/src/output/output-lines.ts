import { StringDecoder } from "node:string_decoder";

/** A longer line is reported in pieces, so that one without an end is reported too, not kept. */
const line_chars_max = 8_192;

export type OutputLines = ReturnType<typeof outputLines>;

/** Lines from text that arrives in pieces. Empty ones are left out. */
export function outputLines(tell: (line: string) => void) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const emitPieces = (line: string): void => {
    for (let at = 0; at < line.length; at += line_chars_max) tell(line.slice(at, at + line_chars_max));
  };
  const take = (text: string): void => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? "";
    lines.forEach(emitPieces);
    if (rest.length < line_chars_max) return;
    emitPieces(rest);
    rest = "";
  };
  return {
    write: (chunk: string | Uint8Array): void => take(typeof chunk === "string" ? chunk : decoder.write(chunk)),
    end(): void {
      take(decoder.end());
      emitPieces(rest);
      rest = "";
    },
  };
}
