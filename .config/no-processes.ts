import child_process from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

// For the quick tests (quick-tests.ts): one that starts a process all the same is told so, and where to look.
const ways = ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"] as const;
for (const name of ways)
  Object.assign(child_process, {
    [name]: () => {
      throw new Error(`a quick test starts a process (${name}): .config/quick-tests.ts says which tests are`);
    },
  });
syncBuiltinESMExports();
