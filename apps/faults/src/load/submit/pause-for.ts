import { pause } from "@atlasqueue/core/internal";
import type { World } from "./world.ts";

/** Between two things that one act does; cut short when the submitter is to end. */
export const pauseFor = ({ stopping }: Pick<World, "stopping">, ms: number): Promise<void> => pause(ms, stopping);
