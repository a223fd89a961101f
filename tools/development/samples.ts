import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { makeCacheEntry, removeCacheEntry, withTemporaryFolder } from "../../src/files/index.ts";
import { digestFile } from "../../src/program/index.ts";
import { linkIntoBuild, root, type SetupContext } from "../shared/checkout.ts";
import { unpackWheel, type Wheel } from "../shared/wheel.ts";

/** MIT; contains a real telephone conversation of two women with its turns and its transcript. */
const PYANNOTE: Wheel = {
  requirement: "pyannote-audio==4.0.7",
  file: "pyannote_audio-4.0.7-py3-none-any.whl",
  sha256: "852ea15c4d85bc34773e618267603ffca6a521669a74d33742692cc67fc700d6",
};

const JFK = join(root, "node_modules/nodejs-whisper/cpp/whisper.cpp/samples/jfk.mp3");

/** SHA-256 of each sample. */
const DIGESTS = {
  "jfk.mp3": "20d3323a2bcce6f25498b8911a397503a0a99fa92b6ba58d62788cb42b6e5459",
  "sample.wav": "c319b4abca767b124e41432d364fd7df006cb26bb79d09326c487d606a134e6e",
  "sample.rttm": "d78fe62c69d8e6dcbb42c26adfce83faccb374c5a1e6d987fe37f85f1c173c87",
  "sample.stm": "f861f3004927e1c4429199f9695bfd252def75d7d5e4bdf735d3d85fd4a667f7",
};

/** The cache entry, named by its content. */
const ENTRY = join("samples", new Bun.CryptoHasher("sha256").update(Object.values(DIGESTS).join()).digest("hex"));

/** Links the sample recordings from packages into build/samples. */
export async function setUpSamples({ cacheRoot, log }: SetupContext): Promise<void> {
  const cached = join(cacheRoot, ENTRY);
  if (await Bun.file(join(cached, "jfk.mp3")).exists()) {
    const damaged = await findDamaged(cached);
    if (damaged) {
      log(`samples: ${damaged} in the cache is damaged; fetching the samples again`);
      await removeCacheEntry(cacheRoot, ENTRY);
    }
  }
  if (!(await Bun.file(join(cached, "jfk.mp3")).exists())) {
    log(`samples: from ${PYANNOTE.requirement} and nodejs-whisper`);
    await makeCacheEntry(cacheRoot, ENTRY, (folder) => fetchSamples(cacheRoot, folder));
  }
  await linkIntoBuild("samples", cached);
  log(`samples: ${Object.keys(DIGESTS).join(", ")}`);
}

async function fetchSamples(cacheRoot: string, folder: string): Promise<void> {
  await copyFile(JFK, join(folder, "jfk.mp3"));
  await withTemporaryFolder(cacheRoot, async (temporary) => {
    const unpacked = join(temporary, "unpacked");
    await unpackWheel(PYANNOTE, { downloads: temporary, unpacked });
    for (const name of ["sample.wav", "sample.rttm", "sample.stm"]) {
      await copyFile(join(unpacked, "pyannote/audio/sample", name), join(folder, name));
    }
  });
  const damaged = await findDamaged(folder);
  if (damaged) throw new Error(`the sample ${damaged} has an unexpected SHA-256`);
}

async function findDamaged(folder: string): Promise<string | undefined> {
  for (const [name, sha256] of Object.entries(DIGESTS)) {
    const found = await digestFile(join(folder, name), "sha256").catch(() => undefined);
    if (found !== sha256) return name;
  }
  return undefined;
}
