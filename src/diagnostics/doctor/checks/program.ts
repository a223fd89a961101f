import { existsSync, statSync } from "node:fs";
import { runtimeDirectoryOf } from "../../../config/index.ts";
import { programVersion, renewProgramFiles, verifyProgramFiles } from "../../../program/index.ts";
import { count, messageOf } from "../../../text/index.ts";
import { type Check, type CheckContext, type Finding, ok, problem, warning } from "../check.ts";

const settingsValid: Check = {
  id: "settings.valid",
  title: "Settings",
  explanation:
    "The settings file, the environment and the flags, read as the server reads them. With an unknown key or a value out of its range the server does not start. While they are invalid, the other checks use the defaults.",
  run({ settingsError, configFile }) {
    if (settingsError !== null) {
      return problem("the settings are invalid, so the server will not start", {
        detail: [settingsError],
        advice: "Correct them. `transcribe config check` shows every error and the allowed values.",
      });
    }
    return ok(configFile === null ? "no settings file; defaults, environment and flags" : `read from ${configFile}`);
  },
};

const programFiles: Check = {
  id: "program.files",
  title: "Program",
  explanation:
    "The parts that the program needs as files: the speech recognition's libraries, ONNX Runtime, ffmpeg and the built-in models. The compiled program unpacks them into `storage.runtime_dir`, and this check compares every byte with the packed original. It also compares the unpacked program itself. In a checkout, scripts/setup provides them.",
  heavy: true,
  async run(context): Promise<Finding> {
    const { files, filesArePresent } = context;
    const advice =
      "In a checkout, run scripts/setup. Otherwise free disk space, or set storage.runtime_dir to a writable directory from which programs may be run.";
    if (files instanceof Error) {
      return problem("the parts of the program can't be unpacked or run", { detail: [messageOf(files)], advice });
    }
    const missing = Object.values(files).filter((path) => !existsSync(path));
    if (missing.length > 0) return problem("parts of the program are missing", { detail: missing, advice });
    if (!filesArePresent) return ok(`version ${programVersion}; the server's first start unpacks its parts`);
    return await compare(context);
  },
};

async function compare({ settings, machine }: CheckContext): Promise<Finding> {
  const directory = runtimeDirectoryOf(settings);
  const { faults = [], runsFromMemory = false } = (await verifyProgramFiles(directory)) ?? {};
  if (faults.length === 0) return complete(runsFromMemory);
  // Unpacked files are readable only by their owner, so they must keep the owner that the server runs as. The files of
  // a service are readable by all users.
  const { uid, mode } = statSync(directory);
  const isMine = uid === machine.userId && (mode & 0o077) === 0;
  const how = isMine
    ? "`transcribe doctor --fix` unpacks the program again."
    : "For a service, run `transcribe service install` again; otherwise run `transcribe doctor --fix` as the directory's owner.";
  return problem(`${count(faults.length, "part")} of the program in ${directory} changed or missing`, {
    detail: faults.map(({ path, fault }) => `${path}: ${fault}`),
    advice: `${how} If this happens again, the disk or the memory is failing.`,
    ...(isMine && {
      repair: { what: `Unpack the program again into ${directory}`, apply: () => renewProgramFiles(directory) },
    }),
  });
}

function complete(runsFromMemory: boolean): Finding {
  if (!runsFromMemory) return ok(`version ${programVersion}, complete`);
  return warning("the program runs from memory, because it found no directory for its unpacked copy", {
    advice:
      "Set the environment variable TRANSCRIBE_STORAGE_RUNTIME_DIR, also for the server, to a directory of this user from which programs may be run. Starts are then a second faster and take less memory.",
  });
}

export const programChecks = [settingsValid, programFiles];
