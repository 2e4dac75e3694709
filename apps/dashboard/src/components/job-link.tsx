import type { MouseEvent, ReactNode } from "react";
import { useRouter } from "@tanstack/react-router";
import { base } from "../base.ts";

/**
 * A link to a job's page in a row of a list. The router's own follows its state and works out its address anew in each
 * row: half of what it took to bring a row into sight.
 */
export function JobLink({ id, className, children }: { id: string; className?: string; children: ReactNode }) {
  const router = useRouter();
  const to = { to: "/ui/jobs/$id", params: { id } } as const;
  const follow = (event: MouseEvent) => {
    // Another tab, or another window, is the browser's to open.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
    event.preventDefault();
    void router.navigate(to);
  };
  return (
    <a
      className={className}
      href={`${base}/ui/jobs/${id}`}
      onClick={follow}
      onPointerEnter={() => void router.preloadRoute(to)}
    >
      {children}
    </a>
  );
}
