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
import type { PartOptions, Row } from "./row.ts";

const maxSeconds = 1800;
const damagedFiles = 2000;

/**
 * hostile: probes and decodes files that are damaged at random, expensive, cut off, or that refer to other files, while
 * strace records every file that ffmpeg opens. Then sends some of them to a server.
 */
export async function hostile(options: PartOptions): Promise<Row[]> {
  const uploads = { damaged: 60, built: Number.POSITIVE_INFINITY };
  return [...(await probedAndDecoded(options)), ...(await hostileUploads(options, uploads))];
}

async function probedAndDecoded({ seed, reportProgress }: PartOptions): Promise<Row[]> {
  if (!canTrace) return [{ measured: "hostile", value: "not run", over: "strace is missing", target: "", ok: false }];
  using directory = temporaryDirectory();
  const folder = directory.path;
  using lures = await setLures(folder);

  const special = specialFiles(folder);
  const bare = playlists(lures);
  const inAvi = playlistsInAvi(lures);
  const originals = corpusFiles();
  const random = randomNumbers(seed);
  const groups = {
    "crafted to be expensive or misleading": Object.entries(special).map(([name, { bytes }]) => lazy(name, bytes)),
    "cut off at every kilobyte": Object.entries(await truncatedMp4s(folder)).map(([name, bytes]) =>
      lazy(name, () => bytes),
    ),
    "playlists, plain and in AVI": Object.entries({ ...bare, ...inAvi }).map(([name, bytes]) =>
      lazy(name, () => bytes),
    ),
    "damaged at random": Array.from({ length: damagedFiles }, (_, index) => {
      const bytes = mutate(originals[index % originals.length] ?? Buffer.alloc(0), originals, random);
      return lazy(`damaged ${index}`, () => bytes);
    }),
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
    await examineAll(files, folder, { ffmpegPath: traced.path, maxSeconds }, (name, end, seconds) => {
      ends[end.kind] += 1;
      slowestSeconds = Math.max(slowestSeconds, seconds);
      if (isWrong(name, end)) wrong.push(`${name}: ${JSON.stringify(end)}`);
    });
    rows.push({
      measured: `unexpected results, ${group}`,
      value: wrong.length === 0 ? "0" : `${wrong.length}: ${wrong.slice(0, 3).join("; ")}`,
      over: `${ends.refused} refused, ${ends.decoded} decoded, ${ends.failed} failed`,
      target: "0",
      ok: wrong.length === 0,
    });
  }
  const calls = await traced.calls();
  const outside = openedPaths(calls).filter(
    (path) => path.startsWith(folder) && !/\/upload-\d(\.(second\.)?pcm.*)?$/.test(path),
  );
  const reached = calls.filter((call) => /connect\(|AF_INET/.test(call)).length + lures.connections();
  const over = `strace, ${calls.length} calls`;
  const slowest = `${slowestSeconds.toFixed(1)} s`;
  return [
    ...rows,
    { measured: "other files opened", value: String(outside.length), over, target: "0", ok: outside.length === 0 },
    { measured: "addresses reached", value: String(reached), over, target: "0", ok: reached === 0 },
    { measured: "longest time for one file", value: slowest, over: "all", target: "60 s", ok: slowestSeconds < 60 },
  ];
}

function lazy(name: string, bytes: () => Uint8Array): [string, () => Uint8Array] {
  return [name, bytes];
}
