// The part of scripts/dev that needs Bun: runs the server, and starts it again after a change below src/.
import { watch } from "node:fs";
import { join } from "node:path";
import { root } from "./checkout.ts";

/** An editor or a checkout writes many files at once; the server restarts after the last of them. */
const SETTLE_MILLISECONDS = 200;
/** Time that a server has to stop: its worker finishes the chunk in progress. */
const STOP_MILLISECONDS = 15_000;

const args = process.argv.slice(2);
let server: Bun.Subprocess | null = null;
let isRestarting = false;
let changeDuringRestart = false;

function start(): void {
  const started = Bun.spawn([join(root, "scripts/transcribe"), "serve", ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    onExit: (child, code) => {
      if (child === server && !isRestarting) console.error(`dev: the server ended with ${code}; waiting for a change`);
    },
  });
  server = started;
}

async function stop(): Promise<void> {
  const stopping = server;
  if (stopping === null || stopping.exitCode !== null) return;
  stopping.kill("SIGTERM");
  const killed = setTimeout(() => stopping.kill("SIGKILL"), STOP_MILLISECONDS);
  await stopping.exited;
  clearTimeout(killed);
}

async function restart(file: string): Promise<void> {
  if (isRestarting) {
    changeDuringRestart = true;
    return;
  }
  isRestarting = true;
  console.error(`dev: ${file} changed; starting again`);
  await stop();
  isRestarting = false;
  start();
  if (changeDuringRestart) {
    changeDuringRestart = false;
    await restart(file);
  }
}

let settling: NodeJS.Timeout | undefined;
watch(join(root, "src"), { recursive: true }, (_, file) => {
  clearTimeout(settling);
  settling = setTimeout(() => void restart(`src/${file}`), SETTLE_MILLISECONDS);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    isRestarting = true;
    void stop().then(() => process.exit(0));
  });
}
start();
