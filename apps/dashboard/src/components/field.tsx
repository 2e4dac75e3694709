import { useId, type ComponentProps, type ReactNode } from "react";

type Own = { label: string; hint?: ReactNode; fault?: string | undefined; wide?: boolean };

/** A named field, with what it takes or what is wrong with it below. */
export function Field({ label, hint, fault, wide, ...input }: Own & ComponentProps<"input">) {
  const id = useId();
  return (
    <div className="field" data-wide={wide || undefined}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        spellCheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-note`}
        {...input}
      />
      <Note id={`${id}-note`} hint={hint} fault={fault} />
    </div>
  );
}

export function SelectField({ label, hint, children, ...select }: Own & ComponentProps<"select">) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="select" aria-describedby={`${id}-note`} {...select}>
        {children}
      </select>
      <Note id={`${id}-note`} hint={hint} />
    </div>
  );
}

function Note({ id, hint, fault }: { id: string; hint?: ReactNode; fault?: string | undefined }) {
  if (fault !== undefined)
    return (
      <span id={id} className="fault" role="alert">
        {fault}
      </span>
    );
  return (
    <span id={id} className="hint">
      {hint}
    </span>
  );
}

/** A number from a field; undefined when it is empty. */
export function numberIn(text: string): number | undefined {
  return text.trim() === "" ? undefined : Number(text);
}
