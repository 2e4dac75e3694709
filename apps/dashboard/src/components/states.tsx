import type { ReactNode } from "react";
import { isAway, wordsOf } from "../api/link.ts";
import { Icon, type IconName } from "./icon.tsx";

/** Nothing here, why, and what to do about it. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children && <div className="soft">{children}</div>}
    </div>
  );
}

/** Room for what is on its way, of about its size, so that nothing jumps when it comes. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div className="loading" role="status">
      <span className="unseen">Loading</span>
      {Array.from({ length: rows }, (_, at) => (
        <span key={at} className="bone" />
      ))}
    </div>
  );
}

type Answer<T> = { data: T | undefined; error: unknown };

/** What a question came to: its answer, its error when there never was an answer, or bones. */
export function Answered<T>({
  to,
  rows,
  children,
}: {
  to: Answer<T>;
  rows?: number;
  children: (data: T) => ReactNode;
}) {
  if (to.data !== undefined) return children(to.data);
  if (to.error !== null && to.error !== undefined) return <Failure error={to.error} />;
  return <Loading {...(rows === undefined ? {} : { rows })} />;
}

export function Failure({ error }: { error: unknown }) {
  return (
    <div className="empty" role="alert">
      <span className="empty-icon bad">
        <Icon name="warning" />
      </span>
      <h2>{isAway(error) ? "No connection" : "This could not be shown"}</h2>
      <p className="soft">
        {wordsOf(error)}
        {isAway(error) && ". The page goes on trying."}
      </p>
    </div>
  );
}
