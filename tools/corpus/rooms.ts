import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { recordingsFolder } from "../../harness/checkout.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { makeCacheEntry } from "../../src/files/index.ts";
import { askPython, installPythonPackages } from "../shared/python.ts";
import type { Reference } from "./references.ts";

const script = join(import.meta.dir, "rooms.py");
const constraints = join(import.meta.dir, "rooms-constraints.txt");

const checked = [
  ...["en-libri-1998", "en-libri-2414", "en-libri-1320", "en-leopard", "en-vctk/p260", "ja-fleurs/1837"],
  ...["de-fleurs/001", "de-fleurs/004", "en-fleurs/001", "en-fleurs/004", "en-fleurs/007"],
  ...["es-fleurs/001", "es-fleurs/004", "fr-fleurs/001", "fr-fleurs/004"],
] as const;

/**
 * The parts of the meetings, with the people who speak in them. Settings may be tuned on the first part and are chosen
 * by the second. The third is measured once for each release. No person, room or seed is in two of these. The people of
 * the second also meet in rooms without loud noise. A person is the beginning of the names of the recordings; people of
 * one set, whom nobody can tell apart by name, are separated by a slash from it and never meet.
 */
export const roomParts = {
  tuned: [
    ...["en-libri-1688", "en-libri-2033", "en-libri-3331", "en-jfk", "en-vctk/p240"],
    ...["de-fleurs/000", "de-fleurs/003", "en-fleurs/000", "en-fleurs/003", "en-fleurs/006", "en-fleurs/009"],
    ...["es-fleurs/000", "es-fleurs/003", "fr-fleurs/000", "fr-fleurs/003"],
  ],
  checked,
  sealed: [
    ...["en-libri-3080", "en-libri-2412", "en-libri-61", "en-libri-3575", "en-mfa", "zh-fleurs/1883"],
    ...["de-fleurs/002", "de-fleurs/005", "en-fleurs/002", "en-fleurs/005", "en-fleurs/008"],
    ...["es-fleurs/002", "es-fleurs/005", "fr-fleurs/002", "fr-fleurs/005"],
  ],
  quiet: checked,
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type RoomPart = keyof typeof roomParts;

/** Meetings of each part, of two minutes and a little more; together more than four hours. */
const MEETINGS = 30;
const SECONDS = 120;
const MAX_PEOPLE = 6;
/** Level of the speech above the noise in decibels: at least, and the range. */
const LOUD_NOISE = [5, 15] as const;
const QUIET_NOISE = [30, 15] as const;

/** A meeting in a room. */
export interface RoomMeeting extends Reference {
  readonly tempo: "quick" | "slow";
}

const answerSchema = Type.Array(
  Type.Object({
    seconds: Type.Number(),
    turns: Type.Array(Type.Tuple([Type.Number(), Type.Number(), Type.String()])),
  }),
);

/**
 * Returns the meetings of a part, from the cache or made anew, in about two minutes.
 * @throws {CommandError} when Python, pip or the packages are unavailable
 */
export async function roomMeetings(part: RoomPart): Promise<RoomMeeting[]> {
  const plans = plansOf(part);
  const voices = voicesOf(roomParts[part]);
  const digest = new Bun.CryptoHasher("sha256").update(JSON.stringify(plans));
  for (const path of [script, constraints, ...Object.values(voices).flat()])
    digest.update(await Bun.file(path).bytes());
  const entry = join("rooms", digest.digest("hex"));
  const directory = join(defaultCacheRoot(), entry);
  const answerFile = join(directory, "turns.json");
  if (!(await Bun.file(answerFile).exists())) {
    const packages = await installPythonPackages(defaultCacheRoot(), {
      name: "rooms",
      packages: ["pyroomacoustics", "soundfile"],
      constraints,
      timeoutMilliseconds: 300_000,
    });
    await makeCacheEntry(defaultCacheRoot(), entry, async (folder) => {
      const meetings = plans.map(({ name, ...plan }) => ({ ...plan, file: join(folder, `${name}.flac`) }));
      const answer = await askPython(script, packages, { voices, meetings }, answerSchema);
      await Bun.write(join(folder, "turns.json"), JSON.stringify(answer));
    });
  }
  const answer = Value.Parse(answerSchema, await Bun.file(answerFile).json());
  return plans.flatMap((plan, index) => {
    const made = answer[index];
    return made === undefined ? [] : [referenceOf(part, plan, directory, made)];
  });
}

/** Returns the meetings of a part. All numbers of people and tempos are equally frequent. */
function plansOf(part: RoomPart) {
  const seed = 1_000 * (1 + Object.keys(roomParts).indexOf(part));
  const [least, range] = part === "quiet" ? QUIET_NOISE : LOUD_NOISE;
  return Array.from({ length: MEETINGS }, (_, index) => {
    const random = randomNumbers(seed + index);
    return {
      name: String(index + 1).padStart(2, "0"),
      seed: seed + index,
      people: choosePeople(roomParts[part], 2 + (index % (MAX_PEOPLE - 1)), random),
      seconds: SECONDS,
      tempo: index % 2 === 0 ? ("quick" as const) : ("slow" as const),
      overlap: 0.05 + 0.2 * random(),
      snr: least + range * random(),
      room: ["office", "meeting", "hall"][Math.floor(3 * random())],
    };
  });
}

/** Chooses people of whom no two are of the same set. */
function choosePeople(all: readonly string[], count: number, random: () => number): string[] {
  const chosen: string[] = [];
  let left = [...all];
  while (chosen.length < count) {
    const person = left[Math.floor(random() * left.length)];
    if (person === undefined) throw new Error("there are too few people for a meeting");
    chosen.push(person);
    const [set] = person.split("/");
    left = left.filter((other) => other !== person && other.split("/")[0] !== set);
  }
  return chosen;
}

/** Returns the recordings of people by the beginning of their names. */
function voicesOf(people: readonly string[]): Record<string, string[]> {
  const files = [...new Bun.Glob("{single,utterances}/*.{flac,ogg,opus,mp3}").scanSync(recordingsFolder)].sort();
  return Object.fromEntries(
    people.map((person) => {
      const name = person.replace("/", "-");
      const isOwn = (path: string) =>
        path.startsWith(`single/${name}`) || path.startsWith(`utterances/${reader(name)}`);
      return [person, files.filter(isOwn).map((path) => join(recordingsFolder, path))];
    }),
  );
}

/** Returns the beginning of the names of a reader's sentences in utterances/; a name that no sentence has for others. */
function reader(name: string): string {
  return `${/^en-libri-(\d+)$/.exec(name)?.[1] ?? "nobody"}-`;
}

function referenceOf(
  part: RoomPart,
  { name, people, tempo }: ReturnType<typeof plansOf>[number],
  directory: string,
  { seconds, turns }: (typeof answerSchema)["static"][number],
): RoomMeeting {
  return {
    path: `rooms/${part}-${name}`,
    file: join(directory, `${name}.flac`),
    group: "room",
    durationSeconds: seconds,
    language: "en",
    speakers: people.length,
    text: null,
    turns: turns.map(([startSeconds, endSeconds, speaker]) => ({ startSeconds, endSeconds, speaker })),
    ...{ wordTurns: null, spoken: null },
    ...{ exact: true, tempo },
  };
}
