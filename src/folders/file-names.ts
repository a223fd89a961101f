import { exportFormats } from "../exports/index.ts";

/** Maximum length of a file name in bytes, on every common file system. */
const MAX_NAME_BYTES = 255;

/** Extensions that programs give to files which they have not finished writing. */
const unfinishedExtensions = [
  ...["part", "partial", "filepart", "tmp", "temp", "lock", "lck", "swp", "crdownload", "download", "opdownload"],
  ...["inprogress", "incomplete", "aria2", "ytdl", "!ut"],
];

/** Names of files that operating systems and storage devices create in folders. */
const systemFiles = ["thumbs\\.db", "desktop\\.ini", "ehthumbs\\.db", "icon\r"];

/**
 * Names of files that are never taken for a recording: hidden, temporary, made by the system, or a transcript, which may
 * be a result.
 */
export const IGNORED_NAMES = new RegExp(
  `^[.~]|~$|^(?:${systemFiles.join("|")})$|\\.(?:${[...unfinishedExtensions, ...exportFormats].join("|")})$`,
  "i",
);

/** Returns whether a name may have come from bytes that are not UTF-8: the runtime replaces those. */
export function mayBeInvalid(name: string): boolean {
  return name.includes("\u{fffd}");
}

/**
 * Yields a name, then the same name with a number: `talk.mp3`, `talk (2).mp3`. Names that are too long are shortened
 * before their extension.
 * @param ending end of the name that counts as its extension; by default from the last dot on
 */
export function* numberedNames(name: string, ending?: string): Generator<string> {
  const dot = ending === undefined ? name.lastIndexOf(".") : name.length - ending.length;
  const [stem, extension] = dot <= 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot)];
  yield fitted(stem, extension);
  for (let number = 2; ; number++) yield fitted(stem, ` (${number})${extension}`);
}

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

function fitted(stem: string, ending: string): string {
  const room = MAX_NAME_BYTES - Buffer.byteLength(ending);
  if (Buffer.byteLength(stem) <= room) return stem + ending;
  let short = "";
  for (const { segment } of graphemes.segment(stem)) {
    if (Buffer.byteLength(short + segment) > room) break;
    short += segment;
  }
  return short + ending;
}
