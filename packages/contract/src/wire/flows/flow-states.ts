/**
 * `running`: some of its jobs are not final. `held`: none of those goes on by itself, as each waits for one that failed.
 * When all are final: `failed` if any is dead, otherwise `cancelled` if any is cancelled, otherwise `succeeded`. In a file of its own, as
 * the dashboard's first page must not bring zod along.
 */
export const flowStates = ["running", "held", "succeeded", "failed", "cancelled"] as const;
export type FlowState = (typeof flowStates)[number];
