import { type DiarizationErrors, errorRates } from "../../harness/der.ts";
import { type Group, isByCharacter, type Rate, sum } from "../corpus/index.ts";
import type { Circumstances } from "../shared/circumstances.ts";
import { percent, total } from "../shared/figures.ts";
import { asMarkdown, asText, headingOf, type Table, writeGenerated } from "../shared/table.ts";
import type { JoinedResult, Results, TimeResult, WordResult } from "./results.ts";
import { type SpeakerResult, summarize } from "./speakers.ts";
import { hallucinatedPerHour } from "./times.ts";
import type { UncertainResult } from "./uncertain-speakers.ts";

/** A row of the table: the measure, its value, and the data behind it. */
export interface Row {
  readonly measure: string;
  readonly value: string;
  readonly over: string;
}

/**
 * Prints a table, and stores it in docs/quality.md.
 * @param writer the command whose markers enclose the table there; null to store nothing
 */
export function showTable(table: Table, when: Circumstances, writer: string | null): void {
  console.log(asText(table));
  if (writer === null) return;
  writeGenerated("docs/quality.md", `${writer} --write`, `${headingOf(when)}:\n\n${asMarkdown(table)}`);
}

/** Returns the table's rows. An aspect that was not measured has none. */
export function rowsOf(results: Results): Row[] {
  return [
    ...wordRows(results.words),
    ...(results.peer === null ? [] : peerRows(results.peer)),
    ...joinedRows(results.joined),
    ...speakerRows(results.segmentSpeakers, "segments"),
    ...speakerRows(results.turnSpeakers, "diarization alone"),
    ...uncertainRows(results.uncertain),
    ...timeRows(results.times),
    ...inventedRows(results.invented),
  ];
}

/** Returns a row for all languages together and one for each language. */
function wordRows(words: readonly WordResult[]): Row[] {
  const single = inGroup(words, "single");
  const languages = [...Map.groupBy(single, ({ language }) => language)];
  const repeats = words.filter(({ language, longestRepeat }) => longestRepeat > (isByCharacter(language) ? 8 : 3));
  const longest = Math.max(...repeats.map(({ longestRepeat }) => longestRepeat));
  const bySpeaker = (group: Group) => inGroup(words, group).map((one) => one.bySpeaker);
  const ofLanguages = languages.length > 1 ? languages : [];
  return [
    ...rateRows("WER, single/", ratesOf(single)),
    ...ofLanguages.flatMap(([language, some]) => rateRows(`WER, single/, ${language}`, ratesOf(some))),
    ...rateRows("WER, dialogues", ratesOf(inGroup(words, "dialogue"))),
    ...rateRows("cpWER, dialogues", bySpeaker("dialogue")),
    ...rateRows("cpWER, two channels at once", bySpeaker("other")),
    ...rateRows("WER, quick exchanges", ratesOf(inGroup(words, "exchange"))),
    ...rateRows("cpWER, quick exchanges", bySpeaker("exchange")),
    ...languageRows("languages correct, single/", single),
    ...rowUnlessEmpty(words, {
      measure: "phrases of four words or more that only the transcript repeats",
      value: repeats.length === 0 ? "none" : `up to ${longest} words`,
      over: `${repeats.length} of ${recordings(words.length)}`,
    }),
  ];
}

function peerRows({ name, words }: NonNullable<Results["peer"]>): Row[] {
  return [
    ...rateRows(`WER, single/, by ${name}`, ratesOf(inGroup(words, "single"))),
    ...rateRows(`WER, dialogues, by ${name}`, ratesOf(inGroup(words, "dialogue"))),
    ...languageRows(`languages correct, single/, by ${name}`, inGroup(words, "single")),
  ];
}

function joinedRows(joined: readonly JoinedResult[]): Row[] {
  const compared = joined.filter(({ apart }) => apart !== null);
  return [
    ...rateRows("WER, joined recordings of single/", ratesOf(compared)),
    ...rateRows(
      "WER, the same recordings separately",
      compared.map(({ apart }) => apart),
    ),
    ...languageRows("languages correct, joined recordings", joined),
  ];
}

const LABELS: Readonly<Record<Group, string>> = {
  single: "single/",
  dialogue: "dialogue",
  meeting: "meeting",
  exchange: "quick exchange",
  other: "other",
  room: "meeting in a room",
};

function speakerRows(results: readonly SpeakerResult[], by: string): Row[] {
  const groups = ["single", "dialogue", "meeting", "exchange", "other"] as const;
  return [
    ...(["dialogue", "meeting", "exchange"] as const).flatMap((group) => {
      const some = inGroup(results, group);
      const ofWords = some.filter(({ wordErrors }) => wordErrors !== null);
      return [
        ...errorRows(`DER, ${LABELS[group]}s, ${by}`, some, "errors"),
        ...errorRows(`DER, ${LABELS[group]}s, reference from word times, ${by}`, ofWords, "wordErrors"),
      ];
    }),
    ...groups.flatMap((group) => {
      const { countsRight, countError, files } = summarize(inGroup(results, group));
      const measure = `numbers of speakers correct, ${LABELS[group]}, ${by}`;
      const note = countError === 0 ? "" : `; ${countError} too many or too few in total`;
      return countRows(measure, countsRight, files, note);
    }),
  ];
}

function errorRows(measure: string, results: readonly SpeakerResult[], which: "errors" | "wordErrors"): Row[] {
  const { errorRate, falseAlarm, missed, confusion, files } = summarize(results, which);
  const kinds = `false alarm ${percent(falseAlarm)}, missed ${percent(missed)}, confusion ${percent(confusion)}`;
  return rowUnlessEmpty(results, { measure, value: percent(errorRate), over: `${kinds}; ${recordings(files)}` });
}

function uncertainRows(results: readonly UncertainResult[]): Row[] {
  return (["dialogue", "meeting", "exchange"] as const).flatMap((group) => {
    const some = inGroup(results, group);
    const [marked, wrong, both] = (["marked", "wrong", "both"] as const).map((name) => total(some, (one) => one[name]));
    const segments = `${total(some, (one) => one.segments)} segments; ${recordings(some.length)}`;
    const share = (of = 0) => (of === 0 ? "none" : percent((both ?? 0) / of));
    const row = (measure: string, of = 0) => {
      const name = `${measure}, ${LABELS[group]}s`;
      return rowUnlessEmpty(some, { measure: name, value: share(of), over: `${both} of ${of}; ${segments}` });
    };
    return [
      ...row("marked segments with a wrong speaker", marked),
      ...row("segments with a wrong speaker marked", wrong),
    ];
  });
}

function timeRows(times: readonly TimeResult[]): Row[] {
  const words = total(times, (one) => one.words);
  const outside = total(times, (one) => one.outside);
  const edges = (measure: string, which: "starts" | "ends") => {
    const errors = times.flatMap((one) => one[which]).toSorted((a, b) => a - b);
    const sizes = errors.map(Math.abs).sort((a, b) => a - b);
    const at = (sorted: readonly number[], part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
    const seconds = (number: number) => `${Math.abs(number).toFixed(2)} s`;
    const within = sizes.filter((size) => size <= 0.2).length / sizes.length;
    const median = `${seconds(at(errors, 0.5))} ${at(errors, 0.5) < 0 ? "early" : "late"}`;
    const turns = `${sizes.length} of ${total(times, (one) => one.turns)} turns`;
    return rowUnlessEmpty(errors, {
      measure: `${measure}, median error`,
      value: seconds(at(sizes, 0.5)),
      over: `90 % under ${seconds(at(sizes, 0.9))}; ${percent(within)} within 0.2 s; median ${median}; ${turns}`,
    });
  };
  return [
    ...edges("start of the first word of a turn", "starts"),
    ...edges("end of the last word of a turn", "ends"),
    ...rowUnlessEmpty(times, {
      measure: "words that extend 0.2 s or more beyond the speech",
      value: percent(outside / words),
      over: `${outside} of ${words} words`,
    }),
  ];
}

function inventedRows(invented: Results["invented"]): Row[] {
  const minutes = total(invented, ({ seconds }) => seconds) / 60;
  const count = `${total(invented, ({ words }) => words.length)} words`;
  return rowUnlessEmpty(invented, {
    measure: "hallucinated words per hour without speech",
    value: hallucinatedPerHour(invented).toFixed(1),
    over: `${count} in ${minutes.toFixed(0)} min of silence, noise, tones, music and pauses`,
  });
}

function rowUnlessEmpty(measured: readonly unknown[], row: Row): Row[] {
  return measured.length === 0 ? [] : [row];
}

function ratesOf(results: readonly { readonly all: Rate | null }[]): (Rate | null)[] {
  return results.map(({ all }) => all);
}

function rateRows(measure: string, all: readonly (Rate | null)[]): Row[] {
  const rates = all.filter((rate) => rate !== null);
  const { errors, length } = sum(rates);
  const over = `${errors} of ${length}; ${recordings(rates.length)}`;
  return rowUnlessEmpty(rates, { measure, value: percent(errors / length), over });
}

function languageRows(measure: string, all: readonly Pick<WordResult, "language" | "detectedLanguage">[]): Row[] {
  const right = all.filter(({ language, detectedLanguage }) => language === detectedLanguage);
  return countRows(measure, right.length, all.length);
}

function countRows(measure: string, right: number, count: number, note = ""): Row[] {
  return count === 0 ? [] : [{ measure, value: `${right} of ${count}`, over: recordings(count) + note }];
}

function inGroup<T extends { readonly group: Group }>(all: readonly T[], group: Group): T[] {
  return all.filter((one) => one.group === group);
}

function recordings(count: number): string {
  return count === 1 ? "1 recording" : `${count} recordings`;
}

/** Returns one line for each recording with findings beyond the table. */
export function detailsOf(results: Results): string[] {
  const facts = new Map<string, string[]>();
  const say = (path: string, fact: string | false) => {
    if (fact !== false) facts.set(path, [...(facts.get(path) ?? []), fact]);
  };
  const rate = (name: string, one: Rate | null) => one !== null && `${name} ${one.errors}/${one.length}`;
  const common = (path: string, { language, detectedLanguage, longestRepeat }: WordResult | JoinedResult) => {
    say(path, detectedLanguage !== language && `${detectedLanguage ?? "nothing"} instead of ${language}`);
    say(path, longestRepeat > 0 && `repeats ${longestRepeat}`);
  };
  for (const one of results.words) {
    say(one.path, rate("words", one.all));
    say(one.path, rate("by speaker", one.bySpeaker));
    common(one.path, one);
  }
  for (const one of results.joined) {
    say(one.name, rate("words", one.all));
    say(one.name, rate("apart", one.apart));
    common(one.name, one);
  }
  for (const [by, all] of [["segments", results.segmentSpeakers] as const, ["turns", results.turnSpeakers] as const]) {
    for (const { path, errors, wordErrors, speakers, found } of all) {
      say(path, errors !== null && `${by} ${kinds(errors)}`);
      say(path, wordErrors !== null && `against words ${kinds(wordErrors)}`);
      say(path, found !== speakers && `${by} ${found} instead of ${speakers} speakers`);
    }
  }
  for (const { path, starts, ends, words, outside } of results.times) {
    const far = [...starts, ...ends].filter((error) => Math.abs(error) > 0.2);
    say(path, far.length > 0 && `edges off by ${far.map((error) => error.toFixed(2)).join(" ")}`);
    say(path, outside > 0 && `outside ${outside}/${words}`);
  }
  for (const { name, words } of results.invented) say(name, words.length > 0 && `invented ${words.join(" ")}`);
  return [...facts].map(([name, all]) => `${name}: ${all.join(", ")}`);
}

function kinds(errors: DiarizationErrors): string {
  const { errorRate, falseAlarm, missed, confusion } = errorRates(errors);
  return `${percent(errorRate)} (${[falseAlarm, missed, confusion].map((rate) => percent(rate)).join(", ")})`;
}
