import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { builtInSpeechModel, downloadOf, type ModelEntry } from "./catalogue.ts";
import { digestsOf, isPublished } from "./digests.ts";
import { download } from "./download.ts";
import { type InstallOptions, installModel } from "./install-model.ts";
import type { InstalledModel } from "./library.ts";
import { ModelError } from "./model-error.ts";

export interface PullOptions extends InstallOptions {
  /** Base URL that replaces the publisher's folder of models; if empty, the publisher's URL is used. */
  readonly mirror: string;
  /** @param total null while unknown */
  readonly onProgress: (doing: "download" | "check", done: number, total: number | null) => void;
  readonly pause?: (failures: number) => Promise<void>;
}

/**
 * Installs a model of the catalogue into the library. Downloads the model, resumes an interrupted download, and checks
 * the published digest before the model counts as installed. An installed model is checked, and downloaded again if it
 * is damaged.
 * @returns the model; `fetched` is false when an undamaged copy was already installed
 * @throws {ModelError} when the model can't be obtained; an installed copy stays until a valid download replaces it
 */
export async function pullModel(
  entry: ModelEntry,
  options: PullOptions,
): Promise<{ readonly model: InstalledModel; readonly fetched: boolean }> {
  const { library } = options;
  const source = downloadOf(entry);
  if (source === undefined || entry.id === builtInSpeechModel) {
    throw new ModelError(`${entry.id} comes with the program; there is nothing to pull`);
  }
  using _lock = await library.lock(entry.id);
  const installed = library.find(entry.id);
  if (installed !== null && isPublished(entry, await digestsOf(installed.path))) {
    return { model: installed, fetched: false };
  }

  const url = mirrored(source.url, options.mirror);
  const part = join(await library.downloads(), `${entry.id}-${source.sha1.slice(0, 12)}.part`);
  const resumed = await Bun.file(part).exists();
  let digests = await fetchPart(entry, url, part, options);
  // The partial file of an earlier download may be the cause, so the download restarts without it.
  if (resumed && !isPublished(entry, digests)) {
    await rm(part);
    digests = await fetchPart(entry, url, part, options);
  }
  if (!isPublished(entry, digests)) {
    await rm(part);
    throw new ModelError(
      `${new URL(url).hostname} sent a file that is not ${entry.id} as it was published (SHA-1 ${digests.sha1}, not ${source.sha1}); it was deleted`,
    );
  }
  return await library.withFolder(async (folder) => {
    const file = join(folder, entry.file);
    await rename(part, file);
    const model = { file, digests, from: new URL(url).hostname };
    return { model: await installModel(model, entry.id, options, installed), fetched: true };
  });
}

async function fetchPart(entry: ModelEntry, url: string, path: string, { onProgress, pause }: PullOptions) {
  await download({
    ...{ entry, url, path },
    onProgress: (received, total) => onProgress("download", received, total),
    ...(pause && { pause }),
  });
  const total = Bun.file(path).size;
  return await digestsOf(path, (done) => onProgress("check", done, total));
}

/** Returns the URL of the same file in the mirror's folder. @throws {ModelError} when the mirror is no http(s) URL */
function mirrored(url: string, mirror: string): string {
  if (mirror === "") return url;
  const base = URL.parse(mirror.endsWith("/") ? mirror : `${mirror}/`);
  if (base === null || !/^https?:$/.test(base.protocol)) {
    // The message omits the address, because it may contain a password.
    throw new ModelError("models.mirror is not an http or https address");
  }
  return new URL(url.slice(url.lastIndexOf("/") + 1), base).href;
}
