/** Locale of dates and numbers: English, as the strings are, in the variant that the browser prefers. */
const locale = (globalThis.navigator?.languages ?? []).find((language) => /^en\b/i.test(language)) ?? "en";

const numbers = new Intl.NumberFormat(locale);
const tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const smallNumbers = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 });
const percents = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const days = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
const plurals = new Intl.PluralRules(locale);
const languages = new Intl.DisplayNames(locale, { type: "language" });
export const alphabetical = new Intl.Collator(locale).compare;

/** Joins each number to the word after it with a no-break space, so that no line break separates a figure and its unit. */
export const together = (text: string) => text.replace(/(\d) (?=\S)/g, "$1\u00a0");

/** Returns the plural form of a text for a number: `{ one, other }` in English, more forms in other languages. */
export function plural(
  count: number,
  forms: { readonly other: string } & Partial<Record<Intl.LDMLPluralRule, string>>,
): string {
  return together((forms[plurals.select(count)] ?? forms.other).replace("#", numbers.format(count)));
}

export const number = (value: number) => numbers.format(value);
/** Formats a number with two digits below 1, at most one decimal below 10, otherwise as an integer. */
export function roughly(value: number): string {
  if (value < 1) return smallNumbers.format(value);
  return value < 10 ? tenths.format(value) : numbers.format(Math.round(value));
}
/** Formats a share. A small one is not shown as none. */
export const percent = (share: number) =>
  share > 0 && share < 0.005 ? `<${percents.format(0.01)}` : percents.format(share);
export const moment = (iso: string) => moments.format(new Date(iso));
/** @param day e.g. `2026-11-21` */
export const dayOf = (day: string) => together(days.format(new Date(`${day}T00:00:00Z`)));
/** Languages that are written from right to left, among those that can be transcribed. */
const fromRight = /^(ar|fa|he|ps|sd|ur|yi)\b/;
/** Returns the text direction of a language. */
export const directionOf = (language: string | null) => (fromRight.test(language ?? "") ? "rtl" : "ltr");
/** Returns the name of a language code. */
export const languageName = (code: string) => languages.of(code) ?? code;

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** Formats a time relative to now, in the past or the future: `5 minutes ago`. */
export function ago(iso: string, nowMilliseconds: number = Date.now()): string {
  const seconds = (Date.parse(iso) - nowMilliseconds) / 1_000;
  const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  if (unit === "second") return relative.format(0, "second");
  return together(relative.format(Math.trunc(seconds / length), unit));
}

/** Formats a position in a recording, or its length: `3:07`, `1:02:45`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

const byteUnits = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Formats a size in powers of 1000: `1.2 GB`. */
export function bytes(value: number): string {
  // The unit of the rounded figure: 999.6 kB are 1 MB, not 1,000 kB.
  const fitting = byteUnits.findIndex((_, each) => Math.round(value / 1_000 ** each) < 1_000);
  const power = fitting < 0 ? byteUnits.length - 1 : fitting;
  const scaled = value / 1_000 ** power;
  const unit = byteUnits[power] ?? "byte";
  return withUnit(scaled, unit, unit === "byte" ? "long" : "short");
}

/** Formats a duration of audio or of work: `2.5 hr`, `12 min`, `40 sec`. A short one is not shown as none. */
export function duration(seconds: number): string {
  // The unit of the rounded figure: 59.6 s are 1 min, not 60 s.
  const [unit, length] = units.slice(1).find(([, each]) => seconds >= each - each / 120) ?? ["second", 1];
  return withUnit(seconds > 0 ? Math.max(1, seconds) / length : 0, unit, "short");
}

/** Formats an amount with at most one decimal below 10; seconds and bytes have none. */
function withUnit(amount: number, unit: string, unitDisplay: "short" | "long"): string {
  const maximumFractionDigits = amount < 10 && unit !== "second" && unit !== "byte" ? 1 : 0;
  const format = new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay, maximumFractionDigits });
  return together(format.format(amount));
}
