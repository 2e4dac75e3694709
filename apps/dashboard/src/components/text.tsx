import { clipped } from "../lib/visible.ts";

/** Someone else's text on one line: clipped, its direction kept to itself. */
export function Text({ of, mono = false }: { of: string; mono?: boolean }) {
  const text = clipped(of);
  return (
    <bdi className={mono ? "clip mono" : "clip"} title={text}>
      {text}
    </bdi>
  );
}
