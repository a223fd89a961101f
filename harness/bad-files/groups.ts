import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { corpusPath } from "../checkout.ts";
import type { BadFile, End } from "./examine.ts";
import { mutate } from "./mutate.ts";
import { type Lures, playlists, playlistsInAvi } from "./playlists.ts";
import { isPermitted } from "./special-file.ts";
import { specialFiles, truncatedMp4s } from "./special-files.ts";

/** Returns files that are crafted to be expensive or misleading. @param folder of temporary files */
export function craftedFiles(folder: string): BadFile[] {
  return Object.entries(specialFiles(folder)).map(([name, [bytes, expected]]) => {
    return { name, bytes, isRight: (end) => isPermitted(end, expected) };
  });
}

/** Returns videos that are cut off at every kilobyte. @param folder of temporary files */
export async function cutFiles(folder: string): Promise<BadFile[]> {
  return filesOf(await truncatedMp4s(folder), isNoFault);
}

/** Returns files that refer to other files and addresses: playlists, and AVI files with playlists in them. */
export function playlistFiles(lures: Lures): BadFile[] {
  return [
    ...filesOf(playlists(lures), ({ kind }) => kind === "refused"),
    ...filesOf(playlistsInAvi(lures), (end) => end.kind === "decoded" && Math.round(end.seconds) === 1),
  ];
}

/** Returns files of the format corpus that are damaged at random. */
export function damagedFiles(count: number, random: () => number): BadFile[] {
  const names = readdirSync(corpusPath("formats")).sort();
  const originals = names.map((name) => readFileSync(corpusPath(join("formats", name))));
  const damaged = Array.from({ length: count }, (_, index) => {
    return [`damaged ${index}`, mutate(originals[index % originals.length] ?? Buffer.alloc(0), originals, random)];
  });
  return filesOf(Object.fromEntries(damaged), isNoFault);
}

function filesOf(made: Readonly<Record<string, Uint8Array>>, isRight: BadFile["isRight"]): BadFile[] {
  return Object.entries(made).map(([name, bytes]) => ({ name, bytes: () => bytes, isRight }));
}

function isNoFault(end: End): boolean {
  return end.kind !== "failed" || ["recording_too_long", "not_a_recording"].includes(end.fault);
}
