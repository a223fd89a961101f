// The part of scripts/build that needs Bun: packs the parts, compiles, and writes the checksum.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { buildCuda } from "../../native/build-cuda.ts";
import { buildLauncher } from "../../native/build-launcher.ts";
import { withTemporaryFolder } from "../../src/files/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { root } from "../shared/checkout.ts";
import { addChecksum } from "../shared/checksums.ts";
import { compile, patchedBun } from "./compile.ts";
import { checkoutNotices, describeCheckout, writeDescription } from "./describe-checkout.ts";
import { writeFfmpegSource } from "./ffmpeg-source.ts";
import { requireNotices, writeByContent } from "./package-notices.ts";
import { packPart, partSources } from "./parts.ts";
import { fileStart, writeProgramFile } from "./program-file.ts";
import { programSbom } from "./sbom/program-sbom.ts";
import { foreignTarget, type Target, targetOf } from "./target.ts";

try {
  await build(targetOf(process.argv.slice(2)));
} catch (error) {
  console.error(`build: ${messageOf(error)}`);
  process.exitCode = 1;
}

async function build({ name: target, architecture, cuda }: Target): Promise<void> {
  const cacheRoot = defaultCacheRoot();
  const dist = join(root, "dist");
  mkdirSync(dist, { recursive: true });

  const context = { cacheRoot, log: (line: string) => console.log(line) };
  // Fails before anything else is built when a tool is missing.
  const cudaBackend = cuda.length > 0 ? await buildCuda(context, cuda) : null;
  const foreign = architecture === process.arch ? undefined : await foreignTarget(context, architecture);
  const made = await describeCheckout(foreign);
  const name = `transcribe-${target}`;
  console.log(`build: ${name} ${made.version}, commit ${made.commit}`);

  const parts = [];
  for (const source of await partSources(architecture, foreign?.files)) parts.push(await packPart(source, cacheRoot));
  const notices = await checkoutNotices(foreign);
  const bun = foreign?.bun ?? process.execPath;
  const materials = `${name}.cdx.json`;
  const sbom = join(dist, materials);
  const launcher = foreign?.launcher ?? (await buildLauncher(context));
  await Bun.write(sbom, await programSbom({ build: made, parts, bun, launcher }));
  const start = fileStart(launcher, await writeDescription(made, cacheRoot), parts);
  await withTemporaryFolder(cacheRoot, async (folder) => {
    // A constant name, because the compiler puts it into the program.
    const inner = join(folder, "transcribe");
    await compile({
      embedded: {
        build: made,
        parts: start.parts,
        notices: await writeByContent(cacheRoot, "notices/notices.json", JSON.stringify(notices)),
        sbom,
      },
      target: `bun-${target}`,
      bun: await patchedBun(bun, cacheRoot),
      outfile: inner,
      cacheRoot,
      check: (inputs) => requireNotices(inputs, notices),
    });
    await writeProgramFile(join(dist, name), start, inner);
  });

  await addChecksum(dist, "build", name);
  await addChecksum(dist, "build", materials);
  const source = `${name}.ffmpeg-source.tar`;
  await writeFfmpegSource(join(dist, source), context);
  await addChecksum(dist, "build", source);
  if (cudaBackend === null) return;
  const library = `${name}.cuda/libggml-cuda.so`;
  await Bun.write(join(dist, library), Bun.file(cudaBackend.library));
  await addChecksum(dist, "build", library);
}
