import { testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../test/opened.ts";
import { executeOn } from "./statement.ts";

// As one that is read row by row, and cancelled at its deadline.
test("a statement that fails after it has sent a row leaves nothing to the next one on its connection", async () => {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  const execute = executeOn(openDatabase({ url: own.url, connectionsMax: 1, timeoutMs: 10_000 }));
  for (let time = 0; time < 3; time += 1) {
    const late = execute({ text: "SELECT 1 / (2 - n) AS one FROM generate_series(1, 3) AS n", params: [] });
    await expect(late).rejects.toThrow("division by zero");
    expect(await execute({ text: "SELECT 2 AS two", params: [] })).toEqual([{ two: 2 }]);
  }
});
