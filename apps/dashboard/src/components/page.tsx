import { useEffect, type ReactNode } from "react";

/** The frame of every page: its title, what one can do there, and its content. */
export function Page({
  title,
  heading,
  lead,
  actions,
  children,
}: {
  title: string;
  heading?: ReactNode;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · AtlasQueue`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-title">
          <h1>{heading ?? title}</h1>
          {lead && <div className="soft">{lead}</div>}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Card({
  title,
  note,
  actions,
  children,
  flush = false,
}: {
  title?: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** For tables, which bring their own distances. */
  flush?: boolean;
}) {
  return (
    <section className={flush ? "card flush" : "card"}>
      {(title !== undefined || actions !== undefined) && (
        <header className="card-head">
          {title !== undefined && <h2>{title}</h2>}
          {note !== undefined && <span className="quiet">{note}</span>}
          {actions && <div className="actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** Facts by name, as a list that screen readers announce as one. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
