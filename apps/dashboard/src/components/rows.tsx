import { useEffect, useRef, useLayoutEffect, useState, type CSSProperties, type ReactNode } from "react";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { density } from "../app/theme.ts";
import { useStore } from "../lib/store.ts";

type Column = { name: ReactNode; width: string; num?: boolean; sorted?: "ascending" | "descending" | undefined };

type Props<T> = {
  label: string;
  columns: readonly Column[];
  items: readonly T[];
  idOf: (item: T) => string;
  /** In a narrower place, each row is a card of two lines. */
  table_rem: number;
  /** A row above the others, such as their total. */
  first?: ReactNode;
  current?: number;
  isSelected?: (item: T) => boolean;
  /** Called with the rows in sight, the first and the last. */
  onShown?: (first: number, last: number) => void;
  children: (item: T, at: number) => ReactNode;
};

const line_px = { comfortable: 36, compact: 28 };
const card_px = 70;
const rem_px = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

/**
 * A table of any length, in which only the rows in sight exist. On a card, cells with `data-card="title"` or `"end"` are
 * the first line; `"grow"` takes the room that is left on the second. `data-name` names a figure there.
 */
export function Rows<T>({ label, columns, items, idOf, table_rem, first: above, ...rest }: Props<T>) {
  const { current, isSelected, onShown, children } = rest;
  const body = useRef<HTMLDivElement>(null);
  const [margin, setMargin] = useState(0);
  const [cards, setCards] = useState(false);
  useLayoutEffect(() => {
    // Whatever is above the list may come and go. Not with every render: it makes the browser lay out the page at once.
    const measure = () => {
      const box = body.current?.getBoundingClientRect();
      setMargin(box ? box.top + scrollY : 0);
      setCards(box !== undefined && box.width < table_rem * rem_px());
    };
    const resized = new ResizeObserver(measure);
    resized.observe(document.body);
    measure();
    return () => resized.disconnect();
  }, [table_rem]);
  const lines = useStore(density);
  const row_px = cards ? card_px : line_px[lines];
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => row_px,
    overscan: 6,
    scrollMargin: margin,
    getItemKey: (at) => (items[at] === undefined ? at : idOf(items[at])),
  });
  useLayoutEffect(() => virtual.measure(), [virtual, row_px]);
  const shown = virtual.getVirtualItems();
  const [first, last] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0];
  useEffect(() => onShown?.(first, last), [onShown, first, last]);
  const shape = { "--columns": columns.map(({ width }) => width).join(" "), "--row": `${row_px}px` } as CSSProperties;
  return (
    <div className="scroll-x">
      <div
        role="table"
        aria-label={label}
        aria-rowcount={items.length + 1}
        style={shape}
        data-cards={cards || undefined}
      >
        <div role="rowgroup">
          <div role="row" className="rows-head" aria-rowindex={1}>
            {columns.map(({ name, num, sorted }, at) => (
              <span key={at} role="columnheader" className={num ? "num" : undefined} aria-sort={sorted}>
                {name}
              </span>
            ))}
          </div>
          {above && (
            <div role="row" className="rows-row rows-above">
              {above}
            </div>
          )}
        </div>
        <div role="rowgroup" className="rows-body" ref={body} style={{ height: virtual.getTotalSize() }}>
          {shown.map(({ index, key, start }) => {
            const item = items[index];
            if (item === undefined) return null;
            return (
              <div
                key={key}
                role="row"
                className="rows-row"
                aria-rowindex={index + 2}
                aria-selected={isSelected?.(item)}
                data-current={index === current || undefined}
                style={{ transform: `translateY(${start - margin}px)` }}
              >
                {children(item, index)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
