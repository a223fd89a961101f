import type { LiveSegment } from "../../../live/index.ts";
import { toLogprob } from "../render.ts";

type Logprob = ReturnType<typeof toLogprob>;

/** A part of a transcript that was added at its end. */
interface Delta {
  readonly delta: string;
  readonly logprobs: readonly Logprob[];
}

/** The transcript of an item as its client knows it: its parts join to the whole. */
export class ItemTranscript {
  #text = "";
  readonly #logprobs: Logprob[] = [];

  get text(): string {
    return this.#text;
  }

  get logprobs(): readonly Logprob[] {
    return this.#logprobs;
  }

  /** Adds final words. */
  add({ text, words }: LiveSegment): Delta {
    const logprobs = words.map((word) => toLogprob(word.text, word.probability));
    this.#logprobs.push(...logprobs);
    // The words have the spaces between them, as their language writes them.
    const joined = words.length === 0 ? ` ${text.trim()}` : words.map((word) => word.text).join("");
    return { delta: this.#append(joined), logprobs };
  }

  /** Adds what the whole text has and its parts did not have. A text that begins differently is ignored. */
  complete(text: string): Delta {
    const whole = text.toWellFormed().trim();
    const delta = whole.startsWith(this.#text) ? this.#append(whole.slice(this.#text.length)) : "";
    return { delta, logprobs: [] };
  }

  #append(text: string): string {
    const delta = this.#text === "" ? text.toWellFormed().trimStart() : text.toWellFormed();
    this.#text += delta;
    return delta;
  }
}
