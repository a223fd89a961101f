import { errorRates } from "../../../test/support/der.ts";
import { percent } from "./report.ts";
import type { Results } from "./results.ts";

/** A line for each recording that something is to be said of: what it adds to the table. */
export function detailsOf(results: Results): string[] {
  const facts = new Map<string, string[]>();
  const say = (path: string, ...more: readonly string[]) => facts.set(path, [...(facts.get(path) ?? []), ...more]);
  for (const { path, all, bySpeaker, language, heardLanguage, longestRepeat } of results.words) {
    if (all !== null) say(path, `words ${all.errors}/${all.length}`);
    if (bySpeaker !== null) say(path, `by speaker ${bySpeaker.errors}/${bySpeaker.length}`);
    if (heardLanguage !== language) say(path, `${heardLanguage ?? "nothing"} instead of ${language}`);
    if (longestRepeat > 0) say(path, `repeats ${longestRepeat}`);
  }
  for (const { name, all, apart, language, heardLanguage, longestRepeat } of results.joined) {
    say(name, `words ${all.errors}/${all.length}`);
    if (apart !== null) say(name, `apart ${apart.errors}/${apart.length}`);
    if (heardLanguage !== language) say(name, `${heardLanguage ?? "nothing"} instead of ${language}`);
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
