import { existsSync, statSync } from "node:fs";
import { programVersion, renewProgramFiles, verifyProgramFiles } from "../../../program/index.ts";
import { runtimeDirectoryOf } from "../../../server/index.ts";
import { count, messageOf } from "../../../text/index.ts";
import { type Check, type CheckContext, type Finding, ok, problem } from "../check.ts";

export const programParts: Check = {
  id: "program.files",
  title: "Program",
  explanation:
    "The parts that the program needs as files: the speech recognition's libraries, ONNX Runtime, ffmpeg and the default models. A program in one file unpacks them into `storage.runtime_dir`, and here every byte of them is compared with what it carries. In a checkout scripts/setup brings them.",
  heavy: true,
  async run(context): Promise<Finding> {
    const { files, filesArePresent } = context;
    const advice =
      "In a checkout, run scripts/setup. Else make room, or set storage.runtime_dir to a directory that can be written to and programs may be run from.";
    if (files instanceof Error) {
      return problem("the parts of the program can't be unpacked or run", { detail: [messageOf(files)], advice });
    }
    const missing = Object.values(files).filter((path) => !existsSync(path));
    if (missing.length > 0) return problem("parts of the program are missing", { detail: missing, advice });
    if (!filesArePresent) return ok(`version ${programVersion}; not unpacked yet, the server's first start does it`);
    return await compare(context);
  },
};

async function compare({ settings, machine }: CheckContext): Promise<Finding> {
  const directory = runtimeDirectoryOf(settings);
  const faults = (await verifyProgramFiles(directory)) ?? [];
  if (faults.length === 0) return ok(`version ${programVersion}, complete`);
  // Unpacked files are readable only by their owner, so they must keep the owner that the server runs as. The files of
  // a service are readable by all users.
  const { uid, mode } = statSync(directory);
  const isMine = uid === machine.userId && (mode & 0o077) === 0;
  const how = isMine
    ? "`transcribe doctor --fix` unpacks the program again."
    : "Where this is a service, run `transcribe service install` again; else `transcribe doctor --fix` as the directory's owner.";
  return problem(`${count(faults.length, "part")} of the program in ${directory} changed or went missing`, {
    detail: faults.map(({ path, fault }) => `${path}: ${fault}`),
    advice: `${how} If it comes back, the disk or the memory is failing.`,
    ...(isMine
      ? { mending: { what: `Unpack the program again into ${directory}`, apply: () => renewProgramFiles(directory) } }
      : {}),
  });
}
