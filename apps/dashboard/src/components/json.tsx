import { useMemo, useState } from "react";
import type { Json } from "@atlasqueue/contract";
import { count } from "../lib/format.ts";
import { firstOf, piecesOf } from "../lib/pieces.ts";
import { visible } from "../lib/visible.ts";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";

/** A JSON value as indented text, whatever its size. */
export function JsonView({ label, value }: { label: string; value: Json }) {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  return <TextBlock label={label} text={text} />;
}

/**
 * Text of many lines, such as an error with its stack. Of a long one the first part is shown until the user asks for all
 * of it, and then in pieces, of which the browser lays out those in sight.
 */
export function TextBlock({ label, text, tone }: { label: string; text: string; tone?: "bad" }) {
  const [whole, setWhole] = useState(false);
  const first = firstOf(text);
  const folded = first.length < text.length;
  const pieces = useMemo(() => piecesOf(whole ? text : first).map(visible), [whole, text, first]);
  return (
    <div className="block" data-tone={tone}>
      <pre tabIndex={0} role="region" aria-label={label} dir="auto">
        {pieces.length === 1
          ? pieces
          : pieces.map((piece, at) => (
              <span key={at} className="piece">
                {piece}
              </span>
            ))}
      </pre>
      {folded && (
        <div className="block-more">
          <Button kind="ghost" onClick={() => setWhole(!whole)}>
            {whole ? "Show less" : `Show all ${count(text.length)} characters`}
          </Button>
        </div>
      )}
      <div className="block-tools">
        <Copy text={text} what={label} />
      </div>
    </div>
  );
}
