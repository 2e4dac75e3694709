import { execFile, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@atlasqueue/harness/servers";

export type Disk = {
  readonly folder: string;
  /** Undefined where no file system of our own could be mounted. */
  readonly full: { fill(): Promise<void>; free(): Promise<void> } | undefined;
  remove(): void;
};

const bytes_max = 6 * 1024 ** 3;
const run = (command: string, ...args: string[]) => promisify(execFile)(command, args, { timeout: 20_000 });

/**
 * A folder for the data of the servers: a file system in memory that can be made as small as what is on it, so that the
 * next write finds no room. Mounting one takes root; without it the folder is an ordinary one, that is never full.
 */
export async function makeDisk(): Promise<Disk> {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-faults-"));
  // mkdtemp lets only us in; as root, PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const disk = join(folder, "disk");
  mkdirSync(disk);
  const mounted = await run("mount", "-t", "tmpfs", "-o", `size=${bytes_max},mode=0755`, "tmpfs", disk).then(
    () => true,
    () => false,
  );
  const removeAtOnce = () => {
    if (mounted) spawnSync("umount", ["-l", disk]);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", removeAtOnce);
  const resize = async (bytes: number) => void (await run("mount", "-o", `remount,size=${bytes}`, disk));
  return {
    folder: disk,
    full: mounted
      ? {
          // Written to meanwhile, it may be too big already for the size that was just right.
          fill: () =>
            eventually(
              async () => {
                const { blocks, bfree, bsize } = statfsSync(disk);
                await resize((blocks - bfree + 16) * bsize);
              },
              { timeout_ms: 5_000, interval_ms: 1 },
            ),
          free: () => resize(bytes_max),
        }
      : undefined,
    remove() {
      process.off("exit", removeAtOnce);
      removeAtOnce();
    },
  };
}
