import { existsSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { createAccount, listAccounts } from "../accounts/index.ts";
import { baseUrlOf, findRunningServer, type RunningServer, trustOf } from "../api-contract/index.ts";
import type { Settings } from "../config/index.ts";
import type { Store } from "../database/index.ts";
import { authenticate, createKey } from "../keys/index.ts";
import { ownCommand, programFile } from "../program/index.ts";
import { startTranscribeServer } from "../server/index.ts";
import { becomeOwner, DataDirectory } from "../storage/index.ts";
import { createLogger } from "../telemetry/index.ts";
import { auditor } from "./admin/audit.ts";
import { transcribeFiles } from "./client/submit.ts";
import { CommandError } from "./command-error.ts";
import { fileArgument, recordingOf, requireRecording } from "./recording-input.ts";
import { addRecordingOptions, createHints, type RecordingOptions } from "./recording-options.ts";
import { catchHangups, servingSettings, untilStopped } from "./serve.ts";
import { addSettingsOptions, openStoreIn, serveFlags, settingsFileOf } from "./settings-options.ts";

/** Maximum time in seconds until a new server is ready. It loads its models first, which takes long on a slow disk. */
const MAX_START_SECONDS = 120;

/** transcribe quickstart [RECORDING]: all steps from the first account to a transcript, for a quick test. */
export function quickstartCommand(): Command {
  const command = addSettingsOptions(new Command("quickstart"), serveFlags)
    .description(
      "Try the program: start a server if none is running, create an account and a key, transcribe a recording.",
    )
    .addArgument(
      fileArgument(
        "[recording]",
        "a recording, or - for standard input; without one, the server runs in the foreground",
      ),
    );
  return addRecordingOptions(command).action(
    async (recording: string | undefined, options: RecordingOptions, command: Command) => {
      const hints = createHints(options);
      const readSettings = servingSettings(command);
      const settings = readSettings();
      const job = recording === undefined ? null : { ...recordingOf(recording), output: null };
      if (job !== null) await requireRecording(job.input);
      const root = resolve(settings.storage.data_dir);
      const owner = statSync(root, { throwIfNoEntry: false })?.uid ?? process.geteuid?.();
      if (owner !== process.geteuid?.()) {
        throw new CommandError(`${root} belongs to another user; name your own directory with --data-dir`);
      }
      becomeOwner(root);
      const directory = new DataDirectory(root);
      if (job === null) {
        await serveInForeground(readSettings, directory, settingsFileOf(command));
        return;
      }
      const server =
        (await findRunningServer(directory)) ?? (await startDetached(settings, settingsFileOf(command), directory));
      const { key } = firstKey(openStoreIn(directory), directory);
      const baseUrl = baseUrlOf(server.origin);
      await transcribeFiles({
        connection: { baseUrl, key, trust: trustOf(server) },
        jobs: [job],
        hints,
        ...{ wait: true, json: false, force: false, everySeconds: 1 },
      });
      process.stderr.write(
        `\nThe server keeps running at ${baseUrl} (stop it: kill ${server.pid}); your key is in ${keyPath(directory)}\n` +
          `Send another: ${programFile ?? "scripts/transcribe"} submit --wait --server ${server.origin} --key-file ${keyPath(directory)} FILE\n`,
      );
    },
  );
}

async function serveInForeground(
  readSettings: () => Settings,
  directory: DataDirectory,
  settingsFile: string | undefined,
): Promise<void> {
  const running = await findRunningServer(directory);
  if (running !== null) {
    process.stdout.write(`a server is already running at ${baseUrlOf(running.origin)} (process ${running.pid})\n`);
    return;
  }
  const onHangup = catchHangups();
  const settings = readSettings();
  const log = createLogger(settings.log.level);
  const server = await startTranscribeServer(settings, log, settingsFile);
  const { key, isNew } = firstKey(openStoreIn(directory), directory);
  process.stdout.write(`transcribe serves ${baseUrlOf(server.origin)}\n`);
  if (isNew) process.stdout.write(`Your first key, also stored in ${keyPath(directory)}:\n${key}\n`);
  await untilStopped(server, { onHangup, readSettings, log });
}

/** Starts `transcribe serve` in the background, logging to the data directory, and waits until the server is ready. */
async function startDetached(
  { server: { host, port }, log: { level } }: Settings,
  config: string | undefined,
  directory: DataDirectory,
): Promise<RunningServer> {
  const logPath = join(directory.root, "server.log");
  const log = openSync(logPath, "a", 0o600);
  const flags = ["--host", host, "--port", String(port), "--data-dir", resolve(directory.root), "--log-level", level];
  const command = ownCommand("serve", ...flags, "--config", config ?? "");
  const child = Bun.spawn(command, { stdin: "ignore", stdout: log, stderr: log, detached: true });
  child.unref();
  process.stderr.write("starting the server …\n");
  for (let waited = 0; waited < MAX_START_SECONDS * 10 && child.exitCode === null; waited++) {
    const server = await findRunningServer(directory);
    if (server !== null && (await isReady(server))) return server;
    await Bun.sleep(100);
  }
  const end = readFileSync(logPath, "utf8").split("\n").slice(-12).join("\n");
  throw new CommandError(`the server did not become ready; the end of ${logPath}:\n${end}`);
}

async function isReady(server: RunningServer): Promise<boolean> {
  const answer = await fetch(`${server.origin}/readyz`, trustOf(server)).catch(() => null);
  return answer?.ok === true;
}

/**
 * Returns the stored key of an earlier quickstart. If there is no valid one, creates a key for the first listed
 * account, and before that an account if there is none.
 */
function firstKey(store: Store, directory: DataDirectory): { key: string; isNew: boolean } {
  const path = keyPath(directory);
  const stored = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  const by = auditor();
  if (authenticate(store, stored, by.now) !== null) return { key: stored, isNew: false };
  const account = listAccounts(store)[0] ?? createAccount(store, "first", by);
  const { secret } = createKey(store, account, { name: "quickstart" }, by);
  writeFileSync(path, `${secret}\n`, { mode: 0o600 });
  return { key: secret, isNew: true };
}

function keyPath(directory: DataDirectory): string {
  return join(directory.root, "first-key");
}
