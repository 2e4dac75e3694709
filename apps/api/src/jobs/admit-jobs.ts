import type { SubmitJob } from "@atlasqueue/contract";
import { requireSmall } from "../http/body/body.ts";
import type { RouteDeps } from "../route/deps.ts";

type Admitting = Pick<RouteDeps, "queueBound" | "storageQuota" | "payload_bytes_max">;
type Asked = { request: Pick<SubmitJob, "queue" | "payload">; idempotency_key?: string | undefined };

/**
 * Whether a tenant may submit jobs, in a request of so many bytes. Throws `ProblemError` for a payload that is too large,
 * and rejects as the bounds of queues and of storage do. `placeOf` is where a job is in the request.
 *
 * @example
 * await admitJobs(deps, { tenant, bytes }, [{ request, idempotency_key }]);
 */
export async function admitJobs(
  { queueBound, storageQuota, payload_bytes_max }: Admitting,
  { tenant, bytes }: { tenant: string; bytes: number },
  jobs: readonly Asked[],
  placeOf: (at: number) => string = () => "",
): Promise<void> {
  jobs.forEach(({ request }, at) => requireSmall(request.payload, `${placeOf(at)}/payload`, bytes, payload_bytes_max));
  await queueBound.admit(
    tenant,
    jobs.map(({ request }) => request.queue),
  );
  const keys = jobs.flatMap(({ idempotency_key }) => idempotency_key ?? []);
  await storageQuota.admit(tenant, { bytes, jobs: jobs.length, keys });
}
