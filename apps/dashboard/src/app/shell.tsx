import { Suspense } from "react";
import { Outlet } from "@tanstack/react-router";
import { link, wordsOf } from "../api/link.ts";
import { paused } from "../api/refresh.ts";
import { useRefused } from "../api/refused.ts";
import { useSession } from "../api/session.ts";
import { Icon } from "../components/icon.tsx";
import { lazyPart, MissingPart } from "../components/lazy-part.tsx";
import { Loading } from "../components/states.tsx";
import { clockTime } from "../lib/format.ts";
import { useStore } from "../lib/store.ts";
import { openOverlay, overlay } from "./overlays.ts";
import { Palette } from "./palette.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { SideBar } from "./side-bar.tsx";
import { dismiss, toasts } from "./toasts.ts";
import { TopBar } from "./top-bar.tsx";

const Keys = lazyPart(() => import("./keys.tsx"));
const SignIn = lazyPart(() => import("../pages/sign-in/sign-in.tsx"));

export function Shell() {
  const session = useSession();
  useShortcuts();
  if (session && !session.signed_in)
    return (
      <>
        <SignIn />
        <Toasts />
      </>
    );
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <SideBar />
      <div className="main">
        <TopBar />
        <LinkBanner />
        <main id="content" tabIndex={-1}>
          {session?.auth === "disabled" && (
            <p className="link-banner">
              <Icon name="warning" />
              <span>
                Authentication is off. Anyone who can reach this API has full access. Set <code>AUTH=required</code> to
                require tokens.
              </span>
            </p>
          )}
          {session ? (
            // For another user nothing stays open: a dialog would act for them on what it showed before.
            <Suspense key={session.token?.id} fallback={<Loading />}>
              <Outlet />
            </Suspense>
          ) : (
            <Loading />
          )}
        </main>
      </div>
      <Overlays />
      <Toasts />
    </div>
  );
}

/** Says that what is shown is old. It lies over the page, so that nothing moves when it comes and goes. */
function LinkBanner() {
  const state = useStore(link);
  const refused = useRefused();
  const still = useStore(paused);
  const old = state.up
    ? refused && `Some of this is from ${clockTime(refused.dataUpdatedAt)}: ${wordsOf(refused.error)}`
    : `${state.reason} since ${clockTime(state.since)}. What you see is from then`;
  return (
    <div className="link-state" role="status">
      {old && (
        <p className="link-banner">
          <Icon name="warning" />
          {old}
          {still ? "." : "; the page goes on trying."}
        </p>
      )}
    </div>
  );
}

function Overlays() {
  const open = useStore(overlay);
  const close = () => openOverlay(undefined);
  return (
    <>
      {open === "palette" && <Palette onClose={close} />}
      {open === "keys" && <Keys onClose={close} />}
    </>
  );
}

function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      <MissingPart />
      {shown.map(({ id, tone, text }) => (
        <div key={id} className="toast" data-tone={tone}>
          <Icon name={tone === "good" ? "check" : "warning"} />
          <span>{text}</span>
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
