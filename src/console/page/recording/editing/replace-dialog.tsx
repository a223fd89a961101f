import { useEffect, useRef, useState } from "preact/hooks";
import type { Mark, RecordingDetail, ReplacementPage } from "../../../contract/index.ts";
import { announce } from "../../announce.tsx";
import { clock } from "../../format.ts";
import { Button, FormDialog, Problem } from "../../parts/index.ts";
import { call, messageOf } from "../../server.ts";
import { strings } from "../../strings.ts";
import { fragmentsOf } from "../transcript/highlights.ts";
import type { Corrections } from "./corrections.ts";

const texts = strings.replace;

/** Time without a keystroke before the preview is loaded. */
const PREVIEW_DELAY_MILLISECONDS = 250;

interface ReplaceDialogProps {
  readonly recording: RecordingDetail;
  readonly corrections: Corrections;
  /** Words of the transcript's search. */
  readonly find: string;
  readonly onClose: () => void;
}

/** Replaces a text in the whole transcript, after a preview in which the user can leave out segments. */
export function ReplaceDialog({ recording, corrections, find: initial, onClose }: ReplaceDialogProps) {
  const [find, setFind] = useState(initial);
  const [replacement, setReplacement] = useState("");
  const [matchesCase, setMatchesCase] = useState(false);
  const [wholeWords, setWholeWords] = useState(true);
  const [except, setExcept] = useState<ReadonlySet<number>>(new Set());
  const [problem, setProblem] = useState<string | null>(null);
  const [preview, setPreview] = useState<ReplacementPage | null>(null);
  const wanted = { find, replacement, matches_case: matchesCase, whole_words: wholeWords };

  const load = (after: number, signal?: AbortSignal) =>
    call("replacements", { id: recording.id, query: { ...wanted, after } }, signal);
  useEffect(() => {
    setPreview(null);
    setExcept(new Set());
    setProblem(null);
    if (find === "") return;
    const aborted = new AbortController();
    const timer = setTimeout(() => {
      load(0, aborted.signal).then(setPreview, (error: unknown) => {
        if (!aborted.signal.aborted) setProblem(messageOf(error));
      });
    }, PREVIEW_DELAY_MILLISECONDS);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  }, [find, replacement, matchesCase, wholeWords]);
  const loadMore = async () => {
    if (preview?.next_after == null) return;
    await load(preview.next_after).then(
      (more) => setPreview({ ...more, replacements: [...preview.replacements, ...more.replacements] }),
      (error: unknown) => setProblem(messageOf(error)),
    );
  };
  const count = (preview?.total ?? 0) - except.size;
  const submit = async () => {
    if (!(await corrections.makeAll({ ...wanted, action: "replace", except: [...except] }))) return;
    announce(texts.done(count));
    onClose();
  };
  const toggle = (id: number) => {
    const next = new Set(except);
    if (!next.delete(id)) next.add(id);
    setExcept(next);
  };
  const flags = [
    { label: texts.matchesCase, isOn: matchesCase, set: setMatchesCase },
    { label: texts.wholeWords, isOn: wholeWords, set: setWholeWords },
  ];
  const replacementField = useRef<HTMLInputElement>(null);
  const isDeletion = replacement === "";
  // Enter in a field submits a form. Here it goes on to the next field, and never deletes.
  const press = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    if (event.key !== "Enter" || event.isComposing) return;
    const field = replacementField.current;
    const isLast = event.currentTarget === field;
    if (isLast && !isDeletion) return;
    event.preventDefault();
    if (isLast) field?.form?.querySelector<HTMLElement>("[type=submit]")?.focus();
    else field?.focus();
  };
  return (
    <FormDialog
      title={texts.title}
      action={isDeletion ? texts.submitDeletion(count) : texts.submit(count)}
      isBad={isDeletion}
      disabled={count === 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <Problem problem={problem} />
      <label>
        {texts.find}
        <input
          value={find}
          maxLength={200}
          dir="auto"
          onKeyDown={press}
          onInput={(event) => setFind(event.currentTarget.value)}
        />
      </label>
      <label>
        {texts.replacement}
        <input
          ref={replacementField}
          value={replacement}
          onKeyDown={press}
          maxLength={200}
          dir="auto"
          onInput={(event) => setReplacement(event.currentTarget.value)}
        />
      </label>
      <div class="checks">
        {flags.map(({ label, isOn, set }) => (
          <label key={label} class="check">
            <input
              type="checkbox"
              checked={isOn}
              onKeyDown={press}
              onChange={(event) => set(event.currentTarget.checked)}
            />
            {label}
          </label>
        ))}
      </div>
      <p role="status">{preview === null ? "" : texts.found(preview.total)}</p>
      {preview !== null && preview.total > 0 && (
        <ul class="preview" aria-label={texts.preview}>
          {preview.replacements.map(({ id, start, before, marks, after }) => (
            <li key={id}>
              <label class="check">
                <input type="checkbox" checked={!except.has(id)} onKeyDown={press} onChange={() => toggle(id)} />
                <span>
                  <span class="soft">{clock(start)}</span> <Marked text={before} marks={marks} />
                  <br />
                  <ins dir="auto">{after === "" ? texts.removed : after}</ins>
                </span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {preview?.next_after != null && <Button text={strings.more} onClick={() => void loadMore()} />}
    </FormDialog>
  );
}

function Marked({ text, marks }: { text: string; marks: readonly Mark[] }) {
  return (
    <del dir="auto">
      {fragmentsOf(text, { found: marks }).map(({ from, text: part, layers }) => (
        <span key={from} class={layers.join(" ")}>
          {part}
        </span>
      ))}
    </del>
  );
}
