import { InvalidArgumentError } from "@commander-js/extra-typings";

/** What the keys of lines without one start with. */
export function parseKeyPrefix(text: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be 1 to 200 printable ASCII characters without a space.");
}
