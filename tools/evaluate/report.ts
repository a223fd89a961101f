import { join } from "node:path";
import { errorRates } from "../../harness/der.ts";
import { root } from "../shared/checkout.ts";
import type { Circumstances } from "../shared/circumstances.ts";
import { withGeneratedTable } from "../shared/circumstances.ts";
import type { Group } from "./corpus.ts";
import { hallucinatedPerHour } from "./measure-invented.ts";
import { type SpeakerResult, summarize } from "./measure-speakers.ts";
import { isByCharacter, type Rate, sum } from "./measure-words.ts";
import type { JoinedResult, Results, TimeResult, WordResult } from "./results.ts";

/** A row of the table: the measure, its value, and the data behind it. */
export interface Row {
  readonly measure: string;
  readonly value: string;
  readonly over: string;
}

/** Returns the table's rows. */
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

/** Returns a row for all languages together and one for each language. */
function wordRows(words: readonly WordResult[]): Row[] {
  const single = words.filter(({ group }) => group === "single");
  const languages = [...new Set(single.map(({ language }) => language))];
  const of = (some: readonly WordResult[]) => some.flatMap(({ all }) => all ?? []);
  const rated = (measure: string, some: readonly WordResult[]) => rateRows(measure, of(some));
  const pairs = words.flatMap(({ bySpeaker, group }) => (bySpeaker === null ? [] : [{ bySpeaker, group }]));
  const right = single.filter(({ language, detectedLanguage }) => language === detectedLanguage);
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
  const right = single.filter(({ language, detectedLanguage }) => language === detectedLanguage);
  return [
    ...rateRows(`WER, single/, by ${name}`, of(single)),
    ...rateRows(`WER, dialogues, by ${name}`, of(inGroup(words, "dialogue"))),
    ...(single.length === 0 ? [] : [countRow(`languages correct, single/, by ${name}`, right.length, single.length)]),
  ];
}

function joinedRows(joined: readonly JoinedResult[]): Row[] {
  const compared = joined.flatMap(({ all, apart }) => (apart === null ? [] : [{ all, apart }]));
  const right = joined.filter(({ language, detectedLanguage }) => language === detectedLanguage);
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
      const { countsRight, countError } = summarize(some);
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
  const { errorRate, falseAlarm, missed, confusion, files } = summarize(results, which);
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
      value: hallucinatedPerHour(invented).toFixed(1),
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

/** The page with the latest table. */
export const qualityPagePath = join(root, "docs/quality.md");

/** Replaces the table of the page. @throws {Error} when the page has no markers for it */
export function withTable(page: string, { date, commit, machine }: Circumstances, rows: readonly Row[]): string {
  const lines = rows.map(({ measure, value, over }) => `| ${measure} | ${value} | ${over} |`);
  const table = ["| measured | | over |", "|---|---|---|", ...lines].join("\n");
  return withGeneratedTable(page, "scripts/evaluate --write", `${date}, commit ${commit}, ${machine}:\n\n${table}`);
}

/** Returns one line for each recording with findings beyond the table. */
export function detailsOf(results: Results): string[] {
  const facts = new Map<string, string[]>();
  const say = (path: string, ...more: readonly string[]) => facts.set(path, [...(facts.get(path) ?? []), ...more]);
  for (const { path, all, bySpeaker, language, detectedLanguage, longestRepeat } of results.words) {
    if (all !== null) say(path, `words ${all.errors}/${all.length}`);
    if (bySpeaker !== null) say(path, `by speaker ${bySpeaker.errors}/${bySpeaker.length}`);
    if (detectedLanguage !== language) say(path, `${detectedLanguage ?? "nothing"} instead of ${language}`);
    if (longestRepeat > 0) say(path, `repeats ${longestRepeat}`);
  }
  for (const { name, all, apart, language, detectedLanguage, longestRepeat } of results.joined) {
    say(name, `words ${all.errors}/${all.length}`);
    if (apart !== null) say(name, `apart ${apart.errors}/${apart.length}`);
    if (detectedLanguage !== language) say(name, `${detectedLanguage ?? "nothing"} instead of ${language}`);
    if (longestRepeat > 0) say(name, `repeats ${longestRepeat}`);
  }
  for (const [by, all] of [["segments", results.segmentSpeakers] as const, ["turns", results.turnSpeakers] as const]) {
    for (const { path, errors, wordErrors, speakers, found } of all) {
      if (errors !== null) say(path, `${by} ${kinds(errors)}`);
      if (wordErrors !== null) say(path, `against words ${kinds(wordErrors)}`);
      if (found !== speakers) say(path, `${by} ${found} instead of ${speakers} speakers`);
    }
  }
  for (const { path, starts, ends, words, outside } of results.times) {
    const far = [...starts, ...ends].filter((error) => Math.abs(error) > 0.2);
    if (far.length > 0) say(path, `edges off by ${far.map((error) => error.toFixed(2)).join(" ")}`);
    if (outside > 0) say(path, `outside ${outside}/${words}`);
  }
  for (const { name, words } of results.invented) if (words.length > 0) say(name, `invented ${words.join(" ")}`);
  return [...facts].map(([name, all]) => `${name}: ${all.join(", ")}`);
}

function kinds(errors: Parameters<typeof errorRates>[0]): string {
  const { errorRate, falseAlarm, missed, confusion } = errorRates(errors);
  return `${percent(errorRate)} (${[falseAlarm, missed, confusion].map(percent).join(", ")})`;
}
