import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button, IconButton } from "../../parts/index.ts";
import { useViewer } from "../../session.tsx";
import { strings } from "../../strings.ts";
import type { TranscriptData } from "../transcript/transcript-data.ts";
import type { Conflict, Corrections } from "./corrections.ts";

const texts = strings.editing;

interface EditingBarProps {
  readonly corrections: Corrections;
  /** Called with the index of a segment after corrections were taken back, or made again. */
  readonly onShow: (index: number) => void;
}

/** Renders whether all corrections are saved, and buttons to take them back and to make them again. */
export function EditingBar({ corrections, onShow }: EditingBarProps) {
  const { canUndo, canRedo, conflicts } = corrections;
  const state = corrections.state === "saved" && conflicts.length > 0 ? "refused" : corrections.state;
  const show = (index: number | null) => {
    if (index !== null) onShow(index);
  };
  return (
    <div class="editing-bar">
      <span class={state === "unreachable" || state === "refused" ? "problem" : "soft"} role="status">
        {canUndo || canRedo || state !== "saved" ? texts.states[state] : ""}
      </span>
      <IconButton
        icon="undo"
        label={texts.undo}
        disabled={!canUndo}
        onClick={() => void corrections.undo().then(show)}
      />
      <IconButton
        icon="redo"
        label={texts.redo}
        disabled={!canRedo}
        onClick={() => void corrections.redo().then(show)}
      />
    </div>
  );
}

interface NoticesProps {
  readonly corrections: Corrections;
  readonly data: TranscriptData;
}

/** Renders what the user should know: a refused correction, and texts that others have overtaken. */
export function EditingNotices({ corrections, data }: NoticesProps) {
  const { problem, conflicts, authors } = corrections;
  const notices = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => uncoverEditor(notices.current), [problem, conflicts]);
  return (
    <div class="notices" ref={notices}>
      <div role="alert">
        {problem !== null && (
          <p class="alert">
            {problem} <Button text={strings.close} onClick={() => corrections.dismiss(null)} />
          </p>
        )}
        {conflicts.map((conflict) => (
          <ConflictNotice key={conflict.segment} {...{ conflict, corrections, data }} />
        ))}
      </div>
      <p class="soft" role="status">
        {authors.length > 0 ? texts.changedBy(authors) : ""}
      </p>
    </div>
  );
}

/** Scrolls the edited text out from behind the notices, which stay at the top of the window. */
function uncoverEditor(notices: HTMLElement | null): void {
  const editor = document.querySelector(".editor")?.getBoundingClientRect();
  const bottom = notices?.getBoundingClientRect().bottom ?? 0;
  if (editor !== undefined && editor.bottom > 0 && editor.top < bottom + UNCOVERED_PIXELS) {
    scrollBy(0, editor.top - bottom - UNCOVERED_PIXELS);
  }
}

/** Pixels between the notices and the edited text. */
const UNCOVERED_PIXELS = 16;
/** Number of segments in which a segment is searched, in both directions. */
const NEARBY = 100;

/** Shows the user's text and the other person's, and lets the user choose. */
function ConflictNotice({ conflict, corrections, data }: NoticesProps & { readonly conflict: Conflict }) {
  const segment = data.get(data.indexOf(conflict.segment));
  const isLoaded = data.outline !== null;
  // The segment may be far away, and its position may have changed a little.
  useEffect(() => {
    const last = (data.outline?.characters.length ?? 0) - 1;
    if (isLoaded && segment === null && conflict.index >= 0) {
      data.load(Math.max(0, conflict.index - NEARBY), Math.min(last, conflict.index + NEARBY));
    }
  }, [data, isLoaded]);
  const { mayChange } = useViewer();
  const isRemoved = segment === null && (conflict.index < 0 || data.get(conflict.index) !== null);
  const useMine = () => {
    corrections.dismiss(conflict);
    void corrections.make({ action: "text", segment: conflict.segment, text: conflict.text });
  };
  // The same text would be refused again.
  const isFinal = conflict.problem !== null || !mayChange;
  return (
    <div class="alert conflict">
      <p>{conflict.problem ?? (isRemoved ? texts.conflictRemoved : texts.conflict)}</p>
      <dl>
        <dt>{texts.yours}</dt>
        <dd dir="auto">{conflict.text}</dd>
        {segment !== null && (
          <>
            <dt>{texts.theirs}</dt>
            <dd dir="auto">{segment.text}</dd>
          </>
        )}
      </dl>
      {!isRemoved && !isFinal && <Button look={null} text={texts.useMine} onClick={useMine} />}{" "}
      <Button
        look={null}
        text={isRemoved ? strings.close : isFinal ? texts.discard : texts.useTheirs}
        onClick={() => corrections.dismiss(conflict)}
      />
    </div>
  );
}
