import { useEffect, useRef, useState } from "preact/hooks";
import { SearchField, Select } from "../parts/index.ts";
import type { ListFilter } from "../route.ts";
import { strings } from "../strings.ts";
import { useData } from "../use-data.ts";

const texts = strings.recordings;
const statuses = ["", ...(Object.keys(strings.statuses) as (keyof typeof strings.statuses)[])] as const;
/** Milliseconds without a keystroke before a search starts. */
const SEARCH_DELAY_MILLISECONDS = 250;

interface FiltersProps {
  readonly filter: ListFilter;
  readonly onChange: (part: Partial<ListFilter>) => void;
}

/** Renders the filters of the list: search words, status and owner. */
export function Filters({ filter, onChange }: FiltersProps) {
  return (
    <search class="filters">
      <Words words={filter.words} onChange={(words) => onChange({ words })} />
      <fieldset class="choice">
        <legend class="unseen">{texts.status}</legend>
        {statuses.map((status) => (
          <label key={status}>
            <input
              type="radio"
              name="status"
              value={status}
              checked={filter.status === status}
              onChange={() => onChange({ status })}
            />
            <span>{status === "" ? texts.allStatuses : strings.statuses[status]}</span>
          </label>
        ))}
      </fieldset>
      <Owner filter={filter} onChange={onChange} />
    </search>
  );
}

function Words({ words, onChange }: { words: string; onChange: (words: string) => void }) {
  const [typed, setTyped] = useState(words);
  const sent = useRef(words);
  // The callback changes with every state of the list. The ref lets a pending search call the current one.
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => {
    // The URL changed by other means, such as the browser's back button.
    if (words !== sent.current) setTyped(words);
    sent.current = words;
  }, [words]);
  useEffect(() => {
    if (typed.trim() === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = typed.trim();
      change.current(typed.trim());
    }, SEARCH_DELAY_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [typed]);
  return <SearchField label={texts.search} words={typed} onWords={setTyped} />;
}

/** Renders a list of accounts and their workspaces to choose from. */
function Owner({ filter, onChange }: FiltersProps) {
  const { value: options } = useData("uploadOptions", {});
  const accounts = options?.accounts ?? [];
  const owners = accounts.flatMap(({ id, name, workspaces }) => [
    { id, name },
    ...workspaces.map((workspace) => ({ id: `${id}/${workspace.id}`, name: `${name} · ${workspace.name}` })),
  ]);
  if (owners.length < 2) return null;
  const choose = (value: string) => {
    const [account = "", workspace = ""] = value.split("/");
    onChange({ account, workspace });
  };
  return (
    <Select
      {...{ label: texts.owner, class: "field", of: owners, none: texts.allAccounts }}
      value={filter.workspace === "" ? filter.account : `${filter.account}/${filter.workspace}`}
      onChoose={choose}
    />
  );
}
