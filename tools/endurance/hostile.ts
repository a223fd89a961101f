import { corpusFiles } from "../../harness/bad-files/corpus-files.ts";
import { type End, examineAll } from "../../harness/bad-files/examine.ts";
import { mutate } from "../../harness/bad-files/mutate.ts";
import { playlists, playlistsInAvi } from "../../harness/bad-files/playlists.ts";
import { setLures } from "../../harness/bad-files/set-lures.ts";
import { specialFiles, truncatedMp4s, unexpected } from "../../harness/bad-files/special-files.ts";
import { canTrace, openedPaths, traceFfmpeg } from "../../harness/bad-files/traced-ffmpeg.ts";
import { ffmpegPath } from "../../harness/checkout.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { hostileUploads } from "./hostile-uploads.ts";
import { atMost, none, notRun, type PartOptions, type Row, row } from "./rows.ts";

const MAX_SECONDS = 1800;
const DAMAGED_FILES = 2000;

type Files = [name: string, bytes: () => Uint8Array][];

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
  const special = specialFiles(folder);
  const bare = playlists(lures);
  const inAvi = playlistsInAvi(lures);
  const originals = corpusFiles();
  const random = randomNumbers(seed);
  const made = (files: Readonly<Record<string, Uint8Array>>): Files =>
    Object.entries(files).map(([name, bytes]) => [name, () => bytes]);
  const damaged = Array.from({ length: DAMAGED_FILES }, (_, index) => {
    return mutate(originals[index % originals.length] ?? Buffer.alloc(0), originals, random);
  });
  const groups: Readonly<Record<string, Files>> = {
    "crafted to be expensive or misleading": Object.entries(special).map(([name, { bytes }]) => [name, bytes]),
    "cut off at every kilobyte": made(await truncatedMp4s(folder)),
    "playlists, plain and in AVI": made({ ...bare, ...inAvi }),
    "damaged at random": made(Object.fromEntries(damaged.map((bytes, index) => [`damaged ${index}`, bytes]))),
  };
  const isWrong = (name: string, end: End) => {
    if (name in special) return unexpected(end, special[name]?.expected);
    if (name in bare) return end.kind !== "refused";
    if (name in inAvi) return end.kind !== "decoded" || Math.round(end.seconds) !== 1;
    return end.kind === "failed" && !["recording_too_long", "not_a_recording"].includes(end.fault);
  };

  const rows: Row[] = [];
  await using traced = await traceFfmpeg(ffmpegPath, folder);
  let slowestSeconds = 0;
  for (const [group, files] of Object.entries(groups)) {
    reportProgress(`${files.length} files ${group}`);
    const ends = { refused: 0, decoded: 0, failed: 0 };
    const wrong: string[] = [];
    await examineAll(files, folder, { ffmpegPath: traced.path, maxSeconds: MAX_SECONDS }, (name, end, seconds) => {
      ends[end.kind] += 1;
      slowestSeconds = Math.max(slowestSeconds, seconds);
      if (isWrong(name, end)) wrong.push(`${name}: ${JSON.stringify(end)}`);
    });
    const value = wrong.length === 0 ? "0" : `${wrong.length}: ${wrong.slice(0, 3).join("; ")}`;
    const over = `${ends.refused} refused, ${ends.decoded} decoded, ${ends.failed} failed`;
    rows.push(row(`unexpected results, ${group}`, value, over, "0", wrong.length === 0));
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
