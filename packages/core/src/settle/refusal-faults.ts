import { limits, type Fault } from "@atlasqueue/contract";
import { unknownParent } from "../flows/flow-faults.ts";
import type { SpawnRefusal } from "./complete-with-children.ts";

const faults_max = 20;

/**
 * What is wrong with jobs that were refused for what the database has. `pointerAt` says where a job is in the request.
 *
 * @example
 * throw invalid(refusalFaults(refusal, (at) => `/children/${at}`));
 */
export function refusalFaults(refusal: SpawnRefusal, pointerAt: (at: number) => string): Fault[] {
  const pointer = "/dependants_wait";
  switch (refusal.kind) {
    case "conflict":
      return refusal.places.slice(0, faults_max).map(({ at, job_id }) => {
        return { pointer: `${pointerAt(at)}/unique`, message: `is held by the job ${job_id}` };
      });
    case "unknown_parents":
      return refusal.places.slice(0, faults_max).map(({ at, nth, id }) => {
        return { pointer: `${pointerAt(at)}/depends_on/${nth}`, message: unknownParent(id) };
      });
    case "too_many_waits": {
      const message = `must be false: the ${refusal.dependants} jobs that wait for this one would wait for more than ${limits.flow_edges_max} jobs, each alone or all together`;
      return [{ pointer, message }];
    }
    case "circle": {
      const message = `must be false: the job ${refusal.dependant}, which would wait for the children, is one for which they wait`;
      return [{ pointer, message }];
    }
    case "too_many_to_tell": {
      const message = "must be false: the children wait for too many jobs to tell whether these would wait for them";
      return [{ pointer, message }];
    }
    default:
      return refusal satisfies never;
  }
}
