import type { RefObject } from "preact";
import type { Named } from "../../contract/index.ts";
import { Icon } from "./icons.tsx";

interface SearchFieldProps {
  readonly label: string;
  readonly words: string;
  readonly onWords: (words: string) => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly field?: RefObject<HTMLInputElement | null>;
}

/** Renders a field for search words. */
export function SearchField({ label, words, onWords, onKeyDown, field }: SearchFieldProps) {
  return (
    <label class="field search">
      <span class="unseen">{label}</span>
      <Icon name="search" />
      <input
        ref={field ?? null}
        type="search"
        placeholder={label}
        value={words}
        maxLength={200}
        autocomplete="off"
        dir="auto"
        onInput={(event) => onWords(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </label>
  );
}

/** Renders the options of a select element. The text is the name, the value is the id. */
export function Options({ of }: { of: readonly Named[] }) {
  return (
    <>
      {of.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </>
  );
}
