import { chmod, copyFile, lstat, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { packTree } from "./pack-tree.ts";
import type { RootFiles } from "./root-files.ts";

/** The user of deploy/Containerfile; the data directory is its own. */
const userId = 10001;
const dataDirectory = "var/lib/transcribe";

const texts: Readonly<Record<string, string>> = {
  "etc/passwd": `root:x:0:0:root:/root:/bin/false\ntranscribe:x:${userId}:${userId}::/${dataDirectory}:/bin/false\n`,
  "etc/group": `root:x:0:\ntranscribe:x:${userId}:\n`,
  "etc/nsswitch.conf": "hosts: files dns\n",
};

/** Writes the image's tree as an archive: the same files give the same bytes, whoever packs them and when. */
export async function writeRootArchive(archive: string, files: RootFiles): Promise<void> {
  const tree = await mkdtemp(join(dirname(archive), "root-"));
  try {
    for (const [path, source] of files) {
      const target = join(tree, path);
      await mkdir(dirname(target), { recursive: true });
      await copyFile(source, target);
      await chmod(target, ((await lstat(source)).mode & 0o111) === 0 ? 0o644 : 0o755);
    }
    for (const [path, text] of Object.entries(texts)) {
      await mkdir(dirname(join(tree, path)), { recursive: true });
      await writeFile(join(tree, path), text);
    }
    await mkdir(join(tree, "tmp"));
    await mkdir(join(tree, dataDirectory), { recursive: true });
    await packTree(archive, tree, [
      { path: "tmp", mode: "1777", owner: 0 },
      { path: dataDirectory, mode: "0700", owner: userId },
    ]);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}
