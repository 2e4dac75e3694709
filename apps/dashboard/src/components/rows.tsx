import { useEffect, useRef, useLayoutEffect, useState, type CSSProperties, type ReactNode } from "react";
import { useWindowVirtualizer } from "@tanstack/react-virtual";

type Column = { name: ReactNode; width: string; num?: boolean; sorted?: "ascending" | "descending" | undefined };

type Props<T> = {
  label: string;
  columns: readonly Column[];
  items: readonly T[];
  idOf: (item: T) => string;
  /** Below this width the list scrolls sideways. */
  min_width: string;
  current?: number;
  isSelected?: (item: T) => boolean;
  /** Told which rows are in sight, the first and the last. */
  onShown?: (first: number, last: number) => void;
  children: (item: T, at: number) => ReactNode;
};

const row_px = 36;

/** A table of any length, in which only the rows in sight exist. */
export function Rows<T>({ label, columns, items, idOf, min_width, current, isSelected, onShown, children }: Props<T>) {
  const body = useRef<HTMLDivElement>(null);
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    // Whatever is above the list may come and go. Not with every render: it makes the browser lay out the page at once.
    const measure = () => setMargin(body.current ? body.current.getBoundingClientRect().top + scrollY : 0);
    const resized = new ResizeObserver(measure);
    resized.observe(document.body);
    measure();
    return () => resized.disconnect();
  }, []);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => row_px,
    overscan: 6,
    scrollMargin: margin,
    getItemKey: (at) => (items[at] === undefined ? at : idOf(items[at])),
  });
  const shown = virtual.getVirtualItems();
  const [first, last] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0];
  useEffect(() => onShown?.(first, last), [onShown, first, last]);
  const shape = {
    "--columns": columns.map(({ width }) => width).join(" "),
    minWidth: min_width,
  } as CSSProperties;
  return (
    <div className="scroll-x">
      <div role="table" aria-label={label} aria-rowcount={items.length + 1} style={shape}>
        <div role="rowgroup">
          <div role="row" className="rows-head" aria-rowindex={1}>
            {columns.map(({ name, num, sorted }, at) => (
              <span key={at} role="columnheader" className={num ? "num" : undefined} aria-sort={sorted}>
                {name}
              </span>
            ))}
          </div>
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
