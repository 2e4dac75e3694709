import { flowStates, type FlowState } from "@atlasqueue/contract";

/** Which flows are listed. The address of the page holds it. */
export type FlowsFilter = { state?: FlowState };

/** What an address says; what it should not say is left out. */
export function readFlowsFilter(given: Record<string, unknown>): FlowsFilter {
  const state = flowStates.find((each) => each === given["state"]);
  return state ? { state } : {};
}
