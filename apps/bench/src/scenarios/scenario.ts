import type { Row } from "../report/result.ts";
import type { ServerUrls, Variant } from "../variants/variant.ts";

/** How long a run may be; `--quick`, `--jobs` and the test make it shorter. */
export type Effort = {
  /** Jobs in one measurement, before a variant's share. */
  jobs: number;
  /** A measurement that is counted in operations ends here at the latest. */
  seconds_max: number;
};

/** One measured value. A scenario may give several, each a row of its own. */
export type Figure = { scenario: string; unit: Row["unit"]; value: number };

export type Scenario = {
  /** As in `--scenario`. */
  name: string;
  /** Whether it makes sense for this variant. Default: for all. */
  suits?(variant: Variant): boolean;
  /** One round, in a process that runs nothing else, on a new database. */
  run(variant: Variant, servers: ServerUrls, effort: Effort): Promise<Figure[]>;
};
