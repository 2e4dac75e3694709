import { hash } from "node:crypto";
import { canonicalJson } from "@atlasqueue/contract";
import { newId, type Act, type ActRow, type BegunAct } from "@atlasqueue/core/internal/http";
import { ProblemError, temporary, unavailable } from "../http/answers/problem.ts";
import type { Input } from "../route/read.ts";
import type { Auditor } from "./auditor.ts";

/** Half of the time after which the same request may take over the key of an act that is not finished. */
const begin_ms_max = 30_000;

/**
 * Begin an act under an idempotency key, or find what was done under it. Throws a ProblemError for a key that stands for
 * another request, or for one that is not finished; and when this process stood still for so long that another may have
 * done it meanwhile. `now` is a clock in ms.
 */
export async function begunUnderKey(
  auditor: Auditor,
  act: Act,
  idempotency_key: string,
  { path, body }: Input,
  now: () => number = () => performance.now(),
): Promise<{ begun: BegunAct } | { repeated: ActRow }> {
  const { action } = act;
  const fingerprint = hash("sha256", canonicalJson(JSON.parse(JSON.stringify({ action, path, body }))), "hex");
  const begun = { id: newId(), ...act };
  const began_at = now();
  const outcome = await auditor.beginOnce({ ...begun, idempotency_key, fingerprint });
  switch (outcome.kind) {
    case "begun":
      if (now() - began_at < begin_ms_max) return { begun };
      await auditor.end({ ...begun, outcome: "nothing_changed" });
      throw unavailable("This process stood still and has done nothing; try again with the same Idempotency-Key");
    case "done":
      return { repeated: outcome.act };
    case "under_way":
      throw temporary(
        "idempotency_under_way",
        "A request with this key has been begun and not finished; send it again in a moment",
      );
    case "mismatch":
      throw new ProblemError(
        "idempotency_mismatch",
        "The key belongs to another act, or to this one on something else; a new act needs a new key",
      );
    default:
      return outcome satisfies never;
  }
}
