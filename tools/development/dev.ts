// The part of scripts/dev that needs Bun: runs the server, and restarts it after a change in src/.
import { watch } from "node:fs";
import { join } from "node:path";
import { root } from "../shared/checkout.ts";

/** Delay after the last change; an editor or a checkout writes many files at once. */
const SETTLE_MILLISECONDS = 200;
/** Time limit for a stop, in which the worker finishes the chunk in progress. */
const STOP_MILLISECONDS = 15_000;

const args = process.argv.slice(2);
let server: Bun.Subprocess | null = null;
/** Resolves after the last restart. */
let restarted = Promise.resolve();
let isWaiting = false;

function start(): void {
  server = Bun.spawn([join(root, "scripts/transcribe"), "serve", ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    onExit: (child, code) => {
      if (child === server) console.error(`dev: the server exited with ${code}; waiting for a change`);
    },
  });
}

async function stop(): Promise<void> {
  const stopping = server;
  server = null;
  if (stopping === null || stopping.exitCode !== null) return;
  stopping.kill("SIGTERM");
  const killed = setTimeout(() => stopping.kill("SIGKILL"), STOP_MILLISECONDS);
  await stopping.exited;
  clearTimeout(killed);
}

/** Restarts the server after the restart in progress; several changes during it lead to one. */
function restart(file: string): void {
  if (isWaiting) return;
  isWaiting = true;
  restarted = restarted.then(async () => {
    isWaiting = false;
    console.error(`dev: ${file} changed; restarting`);
    await stop();
    start();
  });
}

let settling: NodeJS.Timeout | undefined;
watch(join(root, "src"), { recursive: true }, (_, file) => {
  clearTimeout(settling);
  settling = setTimeout(() => restart(`src/${file}`), SETTLE_MILLISECONDS);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => void restarted.then(stop).then(() => process.exit(0)));
}
start();
