/** How many in each hour, without axes: whether it gets better or worse, at a glance. `top` is the scale of all of a list. */
export function Bars({ values, top, label }: { values: readonly number[]; top: number; label: string }) {
  const width = 100 / Math.max(1, values.length);
  return (
    <svg className="spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      {values.map((value, at) => {
        const height = value === 0 ? 0.6 : Math.max(2, (value / top) * 22);
        return <rect key={at} x={at * width} y={24 - height} width={width * 0.72} height={height} />;
      })}
    </svg>
  );
}

/** How full something is: "7 of 10". Without a maximum, only the number. `calm`: full is as it should be, not a warning. */
export function Meter({
  value,
  max,
  label,
  calm = false,
}: {
  value: number;
  max: number | null;
  label: string;
  calm?: boolean;
}) {
  if (max === null) return <span className="num">{value}</span>;
  const part = max === 0 ? 0 : Math.min(1, value / max);
  return (
    <span className="meter" data-tone={part >= 1 && !calm ? "warning" : undefined}>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`${label}: ${value} of ${max}`}>
        <rect width={part * 100} height="6" />
      </svg>
      {value} / {max}
    </span>
  );
}

/** How a number went, as a line without axes. */
export function Line({ values, label }: { values: readonly number[]; label: string }) {
  const top = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map((value, at) => `${(at * step).toFixed(1)} ${(23 - (value / top) * 22).toFixed(1)}`);
  return (
    <svg className="spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={`M${points.join("L")}`} />
    </svg>
  );
}
