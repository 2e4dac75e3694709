import { cpSync, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Apps of their own, which are not published: this package carries them built. turbo builds them first.
for (const app of ["dashboard", "docs"]) {
  const from = fileURLToPath(new URL(`../../${app}/dist`, import.meta.url));
  if (!existsSync(from)) throw new Error(`apps/${app} is not built: run \`pnpm build\` in the repository's root`);
  cpSync(from, fileURLToPath(new URL(`../dist/${app}-dist`, import.meta.url)), {
    recursive: true,
    filter: (file) => !/(manifest|hashmap)\.json(\.br|\.gz)?$/.test(file),
  });
}
