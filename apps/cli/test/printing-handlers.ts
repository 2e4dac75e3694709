import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

export const prints = defineHandler("prints", z.looseObject({}), () => {
  process.stdout.write('{"level":"error","event":"job_dead","job_id":"forged"}\nno end');
});
