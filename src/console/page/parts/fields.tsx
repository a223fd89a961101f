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

interface SelectProps {
  readonly label: string;
  /** Class of the label, whose text is then for users who hear the page. */
  readonly class?: string;
  /** The options. */
  readonly of: readonly Named[];
  /** Text of the first option, which stands for none of the others. */
  readonly none?: string;
  /** Name of the chosen id in the form. */
  readonly name?: string;
  /** The chosen id, if `onChoose` changes it. */
  readonly value?: string;
  readonly onChoose?: (id: string) => void;
}

/** Renders a list to choose from, with its label. */
export function Select({ label, class: hidden, of, none, name, value, onChoose }: SelectProps) {
  return (
    <label class={hidden}>
      {hidden === undefined ? label : <span class="unseen">{label}</span>}
      <select name={name} value={value} onChange={(event) => onChoose?.(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {of.map((option) => (
          <option key={option.id} value={option.id}>
            {option.name}
          </option>
        ))}
      </select>
    </label>
  );
}
