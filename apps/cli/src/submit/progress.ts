import cliProgress from "cli-progress";
import type { Summary } from "./summary.ts";

export type Progress = { update(bytes: number, summary: Summary): void; stop(): void };

/** A bar on a terminal, nothing elsewhere. Without a size (a pipe) it only counts. */
export function showProgress(output: NodeJS.WriteStream, bytes_total: number | undefined): Progress {
  if (!output.isTTY) return { update() {}, stop() {} };
  const counts = "{created} created, {already_there} already there, {refused} refused";
  const bar = new cliProgress.SingleBar(
    {
      format: bytes_total === undefined ? counts : `{bar} {percentage}% | ${counts} | {eta_formatted} left`,
      stream: output,
      hideCursor: true,
      fps: 10,
      etaBuffer: 1_000,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(bytes_total ?? 0, 0, { created: 0, already_there: 0, refused: 0 });
  let furthest = 0;
  return {
    update(bytes, { created, already_there, refused }) {
      furthest = Math.max(furthest, bytes);
      bar.update(furthest, { created, already_there, refused });
    },
    stop: () => bar.stop(),
  };
}
