import { noteFailure, noteSuccess } from "../api/link.ts";
import { queries } from "../api/queries.ts";
import { session } from "../api/client.ts";
import { followTabs, readSession } from "../api/session.ts";
import { toast } from "./toasts.ts";

const again_ms = 2_000;

/** From now on report when another tab signs in as another user, and show no user what was asked for another. */
export function watchSession(): void {
  let shown_to: string | undefined;
  session.subscribe(() => {
    const { token } = session.get() ?? {};
    if (!token) return;
    if (shown_to !== undefined && token.id !== shown_to) void queries.resetQueries();
    shown_to = token.id;
  });
  followTabs(({ token, tenant }) => {
    toast({
      tone: "bad",
      text: `You're now signed in as ${token?.name} of tenant ${tenant} (changed in another tab).`,
    });
  });
}

/** Ask who we are until there is an answer: the page may be opened while the API starts. */
export function startSession(): void {
  void readSession().then(noteSuccess, (error: unknown) => {
    noteFailure(error);
    setTimeout(startSession, again_ms);
  });
}
