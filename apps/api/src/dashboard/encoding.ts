import type { BuiltFile } from "./built.ts";

type Encoded = { body: Uint8Array<ArrayBuffer>; encoding: "br" | "gzip" | undefined };

/**
 * The smallest form of a file that the request accepts. `q=0` is a refusal, and `*` stands for what is not named; finer
 * preferences count for nothing, as the smallest is what everyone wants.
 */
export function encode(file: BuiltFile, accept: string | undefined): Encoded {
  const wanted = new Map(
    (accept ?? "").split(",").map((one) => {
      const [name = "", ...parameters] = one.trim().toLowerCase().split(";");
      const refused = parameters.some((each) => /^\s*q=0(\.0*)?\s*$/.test(each));
      return [name.trim(), !refused];
    }),
  );
  const takes = (name: string) => wanted.get(name) ?? wanted.get("*") ?? false;
  if (file.br && takes("br")) return { body: file.br, encoding: "br" };
  if (file.gzip && takes("gzip")) return { body: file.gzip, encoding: "gzip" };
  return { body: file.plain, encoding: undefined };
}
