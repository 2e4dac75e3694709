import { lazy, Suspense, type ComponentType, type ReactNode } from "react";
import { CatchBoundary } from "@tanstack/react-router";
import { createStore, useStore } from "../lib/store.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

/** Whether a part of the page could not be loaded, or failed. */
const missing = createStore(false);

export const noteMissing = () => missing.set(true);

/**
 * A part whose code is fetched when it is first shown. After an upgrade an open page may find its file gone: the page
 * stays as it is, a dialog counts as closed, and `MissingPart` offers the new version.
 *
 * @example
 * const NewJob = lazyPart(() => import("./new-job.tsx"));
 */
export function lazyPart<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  placeholder: ReactNode = null,
): ComponentType<Props> {
  let Part = lazy(load);
  return function LazyPart(props) {
    const fail = () => {
      // React remembers a failure for ever. The next opening tries again, as the API may only have been down.
      Part = lazy(load);
      noteMissing();
      (props as { onClose?: () => void }).onClose?.();
    };
    return (
      <CatchBoundary getResetKey={() => "part"} onCatch={fail} errorComponent={() => placeholder}>
        <Suspense fallback={placeholder}>
          <Part {...props} />
        </Suspense>
      </CatchBoundary>
    );
  };
}

/** Offered until the page is loaded anew. */
export function MissingPart() {
  if (!useStore(missing)) return null;
  return (
    <div className="toast" data-tone="bad" role="alert">
      <Icon name="warning" />
      <span>A part of this page could not be shown. AtlasQueue may have been upgraded: reload the page.</span>
      <Button onClick={() => location.reload()}>Reload</Button>
    </div>
  );
}

/** A deferred script runs after its style sheets: one that is not there now was refused. */
export function noteMissingStyles(): void {
  if (document.styleSheets.length === 0) noteMissing();
}
