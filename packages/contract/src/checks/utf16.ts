/**
 * Whether bytes that should be JSON in UTF-8 are UTF-16, as some editors and shells on Windows write: they begin with its
 * byte order mark, or have the zero bytes that JSON never has.
 *
 * @example
 * isUtf16(Buffer.from("{}", "utf16le")); // true
 */
export function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || bytes.includes(0);
}
