import { registerHooks } from "node:module";

/**
 * Says at the end how many modules this process has loaded, and which of them are for exporting. For `--import`. The
 * bare API is not among these: prom-client loads it.
 */
const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
process.on("exit", () => {
  const telling = loaded.filter((url) => /\/node_modules\/@opentelemetry\/(?!api\/)|\/packages\/telemetry\//.test(url));
  process.stderr.write([`loaded ${loaded.length} modules`, ...telling, ""].join("\n"));
});
