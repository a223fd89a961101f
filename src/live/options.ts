import { cleanText, HintError, parseHints } from "../text/index.ts";
import { LiveError, type LiveFormat, type LiveOptions, type TurnRules } from "./contract.ts";

/** Rates that the server converts. */
const SAMPLE_RATES = [8000, 48_000] as const;
const ENCODINGS: readonly LiveFormat["encoding"][] = ["pcm16", "float32", "mulaw", "alaw"];
/** Ranges of the rules for turns. A shorter silence would divide words, a longer one exceed a passage. */
const THRESHOLDS = [0.05, 0.95] as const;
const PADDING_SECONDS = [0, 5] as const;
const SILENCE_SECONDS = [0.1, 10] as const;
/** Maximum length of a recording's name, as of an upload's. */
const MAX_NAME_CHARACTERS = 255;

/**
 * Checks the options of a client, and normalizes their texts.
 * @param languages ISO codes of the languages in which the server recognizes words
 * @throws {LiveError} `bad_option`
 */
export function checkOptions(options: LiveOptions, languages: readonly string[]): LiveOptions {
  return {
    format: checkFormat(options.format),
    language: checkLanguage(options.language, languages),
    prompt: checkPrompt(options.prompt),
    turns: checkTurns(options.turns),
    keep: options.keep,
    name: checkName(options.name),
  };
}

function checkFormat(format: LiveFormat): LiveFormat {
  if (!ENCODINGS.includes(format.encoding)) throw bad("format", `the encoding must be one of ${ENCODINGS.join(", ")}`);
  if (!Number.isInteger(format.sampleRate) || !isWithin(format.sampleRate, SAMPLE_RATES)) {
    throw bad("format", `the sample rate must be a whole number from ${SAMPLE_RATES[0]} to ${SAMPLE_RATES[1]}`);
  }
  return format;
}

function checkLanguage(language: string | null, languages: readonly string[]): string | null {
  if (language === null || languages.includes(language)) return language;
  throw bad("language", `the server does not support this language; it supports ${languages.join(", ")}`);
}

function checkPrompt(prompt: string | null): string | null {
  try {
    return parseHints({ prompt: prompt ?? undefined }).prompt;
  } catch (error) {
    if (error instanceof HintError) throw bad("prompt", error.message);
    throw error;
  }
}

function checkTurns(turns: TurnRules | null): TurnRules | null {
  if (turns === null) return null;
  const rules: readonly [string, number, readonly [number, number]][] = [
    ["the threshold", turns.threshold, THRESHOLDS],
    ["the padding in seconds", turns.paddingSeconds, PADDING_SECONDS],
    ["the silence in seconds", turns.silenceSeconds, SILENCE_SECONDS],
  ];
  for (const [name, value, range] of rules) {
    if (!isWithin(value, range)) throw bad("turns", `${name} must be from ${range[0]} to ${range[1]}`);
  }
  return turns;
}

function checkName(name: string | null): string | null {
  if (name === null) return null;
  const clean = cleanText(name).replaceAll("/", "-");
  if (clean === "" || [...clean].length > MAX_NAME_CHARACTERS || /\p{Cc}/u.test(clean)) {
    throw bad("name", `it must have 1 to ${MAX_NAME_CHARACTERS} characters, on one line`);
  }
  return clean;
}

function bad(option: keyof LiveOptions, reason: string): LiveError {
  return new LiveError({ kind: "bad_option", option, reason });
}

function isWithin(value: number, [least, most]: readonly [number, number]): boolean {
  return value >= least && value <= most;
}
