import { cpSync, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// The page is an app of its own, which is not published: this package carries it built. turbo builds it first.
const from = fileURLToPath(new URL("../../dashboard/dist", import.meta.url));
if (!existsSync(from)) throw new Error("the dashboard is not built: run `pnpm build` in the repository's root");
cpSync(from, fileURLToPath(new URL("../dist/dashboard-dist", import.meta.url)), {
  recursive: true,
  filter: (file) => !/manifest\.json(\.br|\.gz)?$/.test(file),
});
