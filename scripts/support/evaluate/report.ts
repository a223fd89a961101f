import type { Group } from "./corpus.ts";
import { inventedPerHour } from "./measure-invented.ts";
import { type SpeakerResult, summary } from "./measure-speakers.ts";
import { isByCharacter, type Rate, sum } from "./measure-words.ts";
import type { JoinedResult, Results, TimeResult, WordResult } from "./results.ts";

/** A line of the table: what is measured, how it came out, and over what. */
export interface Row {
  readonly measure: string;
  readonly value: string;
  readonly over: string;
}

/** The table's rows, of all that was measured. */
export function rowsOf(results: Results): Row[] {
  return [
    ...wordRows(results.words),
    ...(results.peer === null ? [] : peerRows(results.peer)),
    ...joinedRows(results.joined),
    ...speakerRows(results.segmentSpeakers, "segments"),
    ...speakerRows(results.turnSpeakers, "diarization alone"),
    ...timeRows(results.times),
    ...inventedRows(results),
  ];
}

/** Languages whose errors are counted in characters stand apart, and in the whole with all others. */
function wordRows(words: readonly WordResult[]): Row[] {
  const single = words.filter(({ group }) => group === "single");
  const languages = [...new Set(single.map(({ language }) => language))];
  const of = (some: readonly WordResult[]) => some.flatMap(({ all }) => all ?? []);
  const rated = (measure: string, some: readonly WordResult[]) => rateRows(measure, of(some));
  const pairs = words.flatMap(({ bySpeaker, group }) => (bySpeaker === null ? [] : [{ bySpeaker, group }]));
  const right = single.filter(({ language, heardLanguage }) => language === heardLanguage);
  const repeats = words.filter(({ language, longestRepeat }) => longestRepeat > (isByCharacter(language) ? 8 : 3));
  return [
    ...rated("WER, single/", single),
    ...(languages.length > 1
      ? languages.flatMap((one) =>
          rated(
            `WER, single/, ${one}`,
            single.filter(({ language }) => language === one),
          ),
        )
      : []),
    ...rated("WER, dialogues", inGroup(words, "dialogue")),
    ...rateRows(
      "cpWER, dialogues",
      pairs.filter(({ group }) => group === "dialogue").map(({ bySpeaker }) => bySpeaker),
    ),
    ...rateRows(
      "cpWER, two channels at once",
      pairs.filter(({ group }) => group === "other").map(({ bySpeaker }) => bySpeaker),
    ),
    ...(single.length === 0 ? [] : [countRow("languages correct, single/", right.length, single.length)]),
    ...(words.length === 0
      ? []
      : [
          {
            measure: "phrases of four words or more that only the transcript repeats",
            value:
              repeats.length === 0 ? "none" : `up to ${Math.max(...repeats.map((one) => one.longestRepeat))} words`,
            over: `${repeats.length} of ${recordings(words.length)}`,
          },
        ]),
  ];
}

function peerRows({ name, words }: NonNullable<Results["peer"]>): Row[] {
  const single = inGroup(words, "single");
  const of = (some: readonly WordResult[]) => some.flatMap(({ all }) => all ?? []);
  const right = single.filter(({ language, heardLanguage }) => language === heardLanguage);
  return [
    ...rateRows(`WER, single/, by ${name}`, of(single)),
    ...rateRows(`WER, dialogues, by ${name}`, of(inGroup(words, "dialogue"))),
    ...(single.length === 0 ? [] : [countRow(`languages correct, single/, by ${name}`, right.length, single.length)]),
  ];
}

function joinedRows(joined: readonly JoinedResult[]): Row[] {
  const compared = joined.flatMap(({ all, apart }) => (apart === null ? [] : [{ all, apart }]));
  const right = joined.filter(({ language, heardLanguage }) => language === heardLanguage);
  return [
    ...rateRows(
      "WER, joined recordings of single/",
      compared.map(({ all }) => all),
    ),
    ...rateRows(
      "WER, the same recordings separately",
      compared.map(({ apart }) => apart),
    ),
    ...(joined.length === 0 ? [] : [countRow("languages correct, joined recordings", right.length, joined.length)]),
  ];
}

function speakerRows(results: readonly SpeakerResult[], by: string): Row[] {
  const groups: readonly (readonly [Group, string])[] = [
    ["dialogue", "dialogues"],
    ["meeting", "meetings"],
  ];
  return [
    ...groups.flatMap(([group, name]) => {
      const some = inGroup(results, group);
      const ofWords = some.filter(({ wordErrors }) => wordErrors !== null);
      return [
        ...errorRows(`DER, ${name}, ${by}`, some, "errors"),
        ...errorRows(`DER, ${name}, reference from word times, ${by}`, ofWords, "wordErrors"),
      ];
    }),
    ...(["single", "dialogue", "meeting", "other"] as const).flatMap((group) => {
      const some = inGroup(results, group);
      if (some.length === 0) return [];
      const { countsRight, countError } = summary(some);
      const row = countRow(
        `numbers of speakers correct, ${group === "single" ? "single/" : group}, ${by}`,
        countsRight,
        some.length,
      );
      return [countError === 0 ? row : { ...row, over: `${row.over}; ${countError} too many or too few in total` }];
    }),
  ];
}

function errorRows(measure: string, results: readonly SpeakerResult[], which: "errors" | "wordErrors"): Row[] {
  if (results.length === 0) return [];
  const { errorRate, falseAlarm, missed, confusion, files } = summary(results, which);
  const kinds = `false alarm ${percent(falseAlarm)}, missed ${percent(missed)}, confusion ${percent(confusion)}`;
  return [{ measure, value: percent(errorRate), over: `${kinds}; ${recordings(files)}` }];
}

function timeRows(times: readonly TimeResult[]): Row[] {
  if (times.length === 0) return [];
  const words = times.reduce((all, one) => all + one.words, 0);
  const outside = times.reduce((all, one) => all + one.outside, 0);
  return [
    ...edgeRow(
      "start of the first word of a turn",
      times.flatMap(({ starts }) => starts),
      times,
    ),
    ...edgeRow(
      "end of the last word of a turn",
      times.flatMap(({ ends }) => ends),
      times,
    ),
    {
      measure: "words that extend 0.2 s or more beyond the speech",
      value: percent(outside / words),
      over: `${outside} of ${words} words`,
    },
  ];
}

function edgeRow(measure: string, errors: readonly number[], times: readonly TimeResult[]): Row[] {
  if (errors.length === 0) return [];
  const turns = times.reduce((all, one) => all + one.turns, 0);
  const sizes = errors.map(Math.abs).sort((a, b) => a - b);
  const signed = errors.toSorted((a, b) => a - b);
  const at = (sorted: readonly number[], part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
  const within = sizes.filter((size) => size <= 0.2).length / sizes.length;
  return [
    {
      measure: `${measure}, median error`,
      value: `${at(sizes, 0.5).toFixed(2)} s`,
      over: `90 % under ${at(sizes, 0.9).toFixed(2)} s; ${percent(within)} within 0.2 s; median ${signedSeconds(at(signed, 0.5))}; ${sizes.length} of ${turns} turns`,
    },
  ];
}

function signedSeconds(seconds: number): string {
  return `${Math.abs(seconds).toFixed(2)} s ${seconds < 0 ? "early" : "late"}`;
}

function inventedRows({ invented }: Results): Row[] {
  if (invented.length === 0) return [];
  const count = invented.reduce((all, { words }) => all + words.length, 0);
  const minutes = invented.reduce((all, { seconds }) => all + seconds, 0) / 60;
  return [
    {
      measure: "hallucinated words per hour without speech",
      value: inventedPerHour(invented).toFixed(1),
      over: `${count} words in ${minutes.toFixed(0)} min of silence, noise, tones, music and pauses`,
    },
  ];
}

function rateRows(measure: string, rates: readonly Rate[]): Row[] {
  if (rates.length === 0) return [];
  const { errors, length } = sum(rates);
  return [{ measure, value: percent(errors / length), over: `${errors} of ${length}; ${recordings(rates.length)}` }];
}

function countRow(measure: string, right: number, count: number): Row {
  return { measure, value: `${right} of ${count}`, over: recordings(count) };
}

function inGroup<T extends { readonly group: Group }>(all: readonly T[], group: Group): T[] {
  return all.filter((one) => one.group === group);
}

function recordings(count: number): string {
  return count === 1 ? "1 recording" : `${count} recordings`;
}

export function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
