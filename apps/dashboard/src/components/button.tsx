import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icon.tsx";

type Props = ComponentProps<"button"> & { kind?: "plain" | "main" | "danger" | "ghost"; icon?: IconName };

/** A double click is one: after the first, another button may lie in the same place, such as the opposite. */
export function Button({ kind = "plain", icon, children, type = "button", className, onClick, ...rest }: Props) {
  return (
    <button
      type={type}
      data-kind={kind}
      {...rest}
      onClick={(event) => event.detail < 2 && onClick?.(event)}
      className={className ? `button ${className}` : "button"}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

/** A few exclusive choices, all in sight. */
export function Choice<T extends string>({
  label,
  of,
  value,
  onChange,
}: {
  label: string;
  of: readonly (readonly [value: T, name: string])[];
  value: T;
  onChange: (value: T) => void;
}) {
  return (
    <div className="choice" role="group" aria-label={label}>
      {of.map(([each, name]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
          {name}
        </button>
      ))}
    </div>
  );
}
