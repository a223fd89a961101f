import type { RefObject } from "preact";
import { Icon } from "../parts/index.ts";
import { strings } from "../strings.ts";
import type { Finder } from "./use-find.ts";

const texts = strings.find;

/** Where what is looked for is typed, how often it was found, and the way from one place to the next. */
export function FindBar({ finder, field }: { finder: Finder; field: RefObject<HTMLInputElement | null> }) {
  const { words, setWords, isLooking, trouble, total, current, step } = finder;
  const isAsked = words.trim() !== "" && !isLooking;
  const keyed = (event: KeyboardEvent) => {
    if (event.key === "Enter") void step(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") setWords("");
  };
  return (
    <search class="find">
      <label class="field search">
        <span class="unseen">{texts.label}</span>
        <Icon name="search" />
        <input
          ref={field}
          type="search"
          placeholder={texts.label}
          value={words}
          maxLength={200}
          autocomplete="off"
          dir="auto"
          onInput={(event) => setWords(event.currentTarget.value)}
          onKeyDown={keyed}
        />
      </label>
      <span role="alert">{trouble !== null && <span class="trouble">{trouble}</span>}</span>
      {isAsked && <span class="soft count">{total === 0 ? texts.none : texts.at(current + 1, total)}</span>}
      {isAsked && total > 0 && (
        <>
          <button type="button" class="quiet icon" aria-label={texts.previous} onClick={() => void step(-1)}>
            <Icon name="up" />
          </button>
          <button type="button" class="quiet icon" aria-label={texts.next} onClick={() => void step(1)}>
            <Icon name="down" />
          </button>
        </>
      )}
    </search>
  );
}
