import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes each, and folders of such files. */
const longest = [
  "packages/system-tests/system/crash-points.test.ts",
  "packages/core/test/explorer/",
  "apps/dashboard/test/",
];
const isLong = ({ moduleId }: TestSpecification) => longest.some((path) => moduleId.includes(`/${path}`));

/** Begins with the longest files, so that at the end no worker is busy alone for minutes with one of them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}
