import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: "./packages/core/src/database/schema/index.ts",
  out: "./drizzle",
});
