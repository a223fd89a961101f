import type { RefObject } from "preact";
import { IconButton, SearchField } from "../parts/index.ts";
import { strings } from "../strings.ts";
import type { Finder } from "./use-find.ts";

const texts = strings.find;

/**
 * Renders the search field of the transcript, the number of matches, and buttons for the previous and the next match.
 */
export function FindBar({ finder, field }: { finder: Finder; field: RefObject<HTMLInputElement | null> }) {
  const { words, setWords, isLooking, trouble, total, current, step } = finder;
  const isAsked = words.trim() !== "" && !isLooking;
  const keyed = (event: KeyboardEvent) => {
    if (event.key === "Enter") void step(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") setWords("");
  };
  return (
    <search class="find">
      <SearchField label={texts.label} words={words} onWords={setWords} onKeyDown={keyed} field={field} />
      <span role="alert">{trouble !== null && <span class="trouble">{trouble}</span>}</span>
      {isAsked && <span class="soft count">{total === 0 ? texts.none : texts.at(current + 1, total)}</span>}
      {isAsked && total > 0 && (
        <>
          <IconButton icon="up" label={texts.previous} onClick={() => void step(-1)} />
          <IconButton icon="down" label={texts.next} onClick={() => void step(1)} />
        </>
      )}
    </search>
  );
}
