import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const api = process.env["API_URL"] ?? "http://127.0.0.1:8000";

export default defineConfig({
  // Below whichever path: the API writes the way to it into the page.
  base: "./",
  plugins: [react()],
  build: {
    // Names change with their content, so they are kept for ever; see the API's dashboard/.
    assetsDir: "assets",
    // The policy has no data: fonts, and an inlined picture is sent with every page.
    assetsInlineLimit: 0,
    manifest: "manifest.json",
    target: "es2023",
    // Browsers that run the rest preload modules by themselves.
    modulePreload: { polyfill: false },
  },
  // `pnpm dev`: the page comes from here, its data from the API beside it.
  server: { port: 5_173, proxy: { "/v1": api, "/docs": api, "/openapi.json": api } },
});
