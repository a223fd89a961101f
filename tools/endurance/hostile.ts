import { examineAll } from "../../harness/bad-files/examine.ts";
import { craftedFiles, cutFiles, damagedFiles, playlistFiles } from "../../harness/bad-files/groups.ts";
import { setLures } from "../../harness/bad-files/playlists.ts";
import { canTrace, openedPaths, traceFfmpeg } from "../../harness/bad-files/traced-ffmpeg.ts";
import { ffmpegPath } from "../../harness/checkout.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { hostileUploads } from "./hostile-uploads.ts";
import { atMost, none, notRun, type PartOptions, type Row } from "./rows.ts";

const DAMAGED_FILES = 2000;

/**
 * hostile: probes and decodes files that are damaged at random, expensive, cut off, or that refer to other files, while
 * strace records every file that ffmpeg opens. Then sends some of them to a server.
 */
export async function hostile(options: PartOptions): Promise<Row[]> {
  const uploads = { damaged: 60, built: Number.POSITIVE_INFINITY };
  return [...(await probedAndDecoded(options)), ...(await hostileUploads(options, uploads))];
}

async function probedAndDecoded({ seed, reportProgress }: PartOptions): Promise<Row[]> {
  if (!canTrace) return notRun("hostile", "strace is missing");
  using directory = temporaryDirectory();
  const folder = directory.path;
  using lures = await setLures(folder);
  const groups = {
    "crafted to be expensive or misleading": craftedFiles(folder),
    "cut off at every kilobyte": await cutFiles(folder),
    "playlists, plain and in AVI": playlistFiles(lures),
    "damaged at random": damagedFiles(DAMAGED_FILES, randomNumbers(seed)),
  };

  const rows: Row[] = [];
  await using traced = await traceFfmpeg(ffmpegPath, folder);
  let slowestSeconds = 0;
  for (const [group, files] of Object.entries(groups)) {
    reportProgress(`${files.length} files ${group}`);
    const { ends, wrong, ...took } = await examineAll(files, folder, traced.path);
    slowestSeconds = Math.max(slowestSeconds, took.slowestSeconds);
    const kinds = ["refused", "decoded", "failed"].map((kind) => {
      return `${[...ends.values()].filter((end) => end.kind === kind).length} ${kind}`;
    });
    rows.push(none(`unexpected results, ${group}`, wrong, kinds.join(", ")));
  }
  const calls = await traced.calls();
  const outside = openedPaths(calls).filter(
    (path) => path.startsWith(folder) && !/\/upload-\d(\.(second\.)?pcm.*)?$/.test(path),
  );
  const reached = calls.filter((call) => /connect\(|AF_INET/.test(call)).length + lures.connections();
  const over = `strace, ${calls.length} calls`;
  return [
    ...rows,
    none("other files opened", outside.length, over),
    none("addresses reached", reached, over),
    atMost("longest time for one file", slowestSeconds, 60, "all"),
  ];
}
