import { noteFailure, noteSuccess } from "../api/link.ts";
import { readSession } from "../api/session.ts";

const again_ms = 2_000;

/** Ask who we are until there is an answer: the page may be opened while the API starts. */
export function startSession(): void {
  void readSession().then(noteSuccess, (error: unknown) => {
    noteFailure(error);
    setTimeout(startSession, again_ms);
  });
}
