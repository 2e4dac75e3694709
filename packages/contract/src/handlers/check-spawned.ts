import { z } from "zod";
import { validate, type Checked } from "../checks/validate.ts";
import { spawnedJob, type SpawnedJob, type SpawnedJobInput } from "../wire/submit/submission.ts";

const request = z.strictObject({ children: z.array(spawnedJob) });

/** Jobs that a handler adds, with their defaults, or what is wrong with them. */
export function checkSpawned(jobs: readonly SpawnedJobInput[]): Checked<SpawnedJob[]> {
  const checked = validate(request, { children: [...jobs] });
  return checked.kind === "valid" ? { kind: "valid", value: checked.value.children } : checked;
}
