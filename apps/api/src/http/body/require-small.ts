import { ProblemError } from "../answers/problem.ts";

/** 413 for a part of a body that is too large to store. Counted as compact JSON, unless the body is small. */
export function requireSmall(value: unknown, pointer: string, body_bytes: number, bytes_max: number): void {
  if (value === undefined || body_bytes <= bytes_max || Buffer.byteLength(JSON.stringify(value)) <= bytes_max) return;
  const message = `may have ${bytes_max} bytes of JSON at most; keep large data elsewhere and send where it is`;
  throw new ProblemError("too_large", `${pointer} ${message}`, { errors: [{ pointer, message }] });
}
