import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RecordingDetail, Segment } from "../../../contract/index.ts";
import { Button } from "../../parts/index.ts";
import { strings } from "../../strings.ts";
import { type Playback, usePlaybackState } from "../player/playback.ts";
import { keyNameOf } from "../use-keys.ts";
import { type Corrections, isEmpty } from "./corrections.ts";
import { SPEAKER } from "./next-doubt.ts";
import type { EditedPlace, Step, TypeAhead } from "./type-ahead.ts";

const texts = strings.editing;

interface SegmentEditorProps {
  readonly segment: Segment;
  readonly previous: Segment | null;
  readonly next: Segment | null;
  readonly place: EditedPlace;
  readonly recording: RecordingDetail;
  readonly corrections: Corrections;
  readonly playback: Playback;
  /** The step that leads to another place, while it lasts. */
  readonly step: Step | null;
  /** Characters that the user types meanwhile. */
  readonly typedAhead: TypeAhead;
  /** Why a step has led nowhere; null: it has not. */
  readonly hint: string | null;
  /** Edits another place. */
  readonly onGo: (place: EditedPlace) => void;
  /** Edits the place to which a step leads. */
  readonly onMove: (step: Step, find: () => Promise<EditedPlace | null>) => Promise<void>;
  /** Whether the speaker is uncertain. */
  readonly isUncertain: boolean;
  /** Goes to the next uncertain word or speaker after a character of this segment's text in the field, or the previous. */
  readonly onDoubt: (direction: 1 | -1, text: string, character: number) => void;
  readonly onClose: () => void;
}

/**
 * Renders the text of a segment as a field, and the actions on it below. The text is saved while the user types. Every
 * action has a key, since the hands of a user who corrects stay on the keyboard.
 */
export function SegmentEditor(props: SegmentEditorProps) {
  const { segment, previous, next, place, recording, corrections, playback, onGo, onMove, onDoubt, onClose } = props;
  const { step, typedAhead, hint, isUncertain } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const speakerField = useRef<HTMLSelectElement>(null);
  const unsaved = corrections.unsavedText(segment.id);
  const [text, setText] = useState(unsaved ?? segment.text);
  const hasConflict = corrections.hasConflict(segment.id);
  const waiting = step ?? corrections.waitingStep(segment.id);
  const opened = useRef(text);
  const { isPlaying } = usePlaybackState(playback);

  // The server has another text: it was reverted, joined with another one, or changed by somebody else.
  useEffect(() => {
    if (unsaved !== null || cleaned(text) === segment.text) return;
    const caret = field.current?.selectionStart ?? 0;
    setText(segment.text);
    opened.current = segment.text;
    requestAnimationFrame(() => field.current?.setSelectionRange(caret, caret));
  }, [segment.text, unsaved]);
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    (place.isSpeaker ? speakerField.current : element)?.focus({ preventScroll: true });
    // A step of the user may just have changed the text.
    if (unsaved === null && cleaned(element.value) !== segment.text) {
      element.value = segment.text;
      opened.current = segment.text;
    }
    element.setSelectionRange(...place.selection);
    const typed = typedAhead.take();
    if (typed !== "" && !place.isSpeaker) {
      element.setRangeText(typed, ...place.selection, "end");
      corrections.type(segment.id, element.value);
    }
    setText(element.value);
  }, [place]);
  // At once, and not after the next frame, when the user may already have emptied another segment.
  useLayoutEffect(() => () => void corrections.flush(), [corrections]);

  const split = () =>
    onMove("split", async () => {
      const { length } = cleaned(text.slice(0, field.current?.selectionStart));
      const corrected = await corrections.make({ action: "split", segment: segment.id, character: length });
      const added = corrected?.splices?.findLast(({ removed }) => removed === 0)?.segments[0];
      return added === undefined ? null : { id: added.id, selection: [0, 0] };
    });
  const merge = async (first: Segment | null, second: Segment | null) => {
    if (first === null || second === null) return;
    const { length } = second.id === segment.id ? cleaned(text) : second.text;
    await onMove("merge", async () => {
      const corrected = await corrections.make({ action: "merge", segment: first.id, next: second.id });
      const all = corrected?.splices?.flatMap(({ segments }) => segments) ?? [];
      const joined = all.findLast(({ id }) => id === first.id);
      if (joined === undefined) return null;
      const caret = joined.text.length - length;
      return { id: joined.id, selection: [caret, caret] };
    });
  };
  const assign = (value: string) =>
    onMove("assign", async () => {
      const speaker = value === "" ? null : Number(value);
      await corrections.make({ action: "assign", segments: [segment.id], speaker });
      const { selectionStart = 0, selectionEnd = 0 } = field.current ?? {};
      const text: EditedPlace = { id: segment.id, selection: [selectionStart, selectionEnd] };
      return place.isSpeaker ? { ...text, isSpeaker: true } : text;
    });
  const speakerNumber = String(recording.speakers.find(({ speaker }) => speaker === segment.speaker)?.number ?? "");
  const remove = () =>
    onMove("remove", async () => {
      const neighbour = next ?? previous;
      corrections.type(segment.id, "");
      const isRemoved = await corrections.flush();
      return isRemoved && neighbour !== null ? { id: neighbour.id, selection: [0, 0] } : null;
    });
  const goTo = (to: Segment | null, isAtEnd: boolean) => {
    if (to === null) return;
    const caret = isAtEnd ? to.text.length : 0;
    onGo({ id: to.id, selection: [caret, caret] });
  };
  /** Pauses, or plays on within the segment; from elsewhere, the segment from its start. */
  const togglePlayback = () => {
    const isWithin = playback.seconds >= segment.start && playback.seconds < segment.end;
    if (isPlaying || isWithin) playback.toggle();
    else playback.play(segment.start);
  };
  const repeat = () => playback.playSpan(segment.start, segment.end);
  const toggleHalfSpeed = () => {
    playback.audio.playbackRate = playback.audio.playbackRate === 0.5 ? 1 : 0.5;
  };

  /** Actions by key. One that returns false leaves the key to the browser. */
  const actions: Readonly<Record<string, () => unknown>> = {
    Enter: isEmpty(text) ? remove : split,
    "Shift+Enter": () => {},
    Escape: onClose,
    Tab: () => onDoubt(1, text, field.current?.selectionEnd ?? 0),
    "Shift+Tab": () => onDoubt(-1, text, field.current?.selectionStart ?? 0),
    // In an emptied segment, more presses change nothing: it is deleted when the field is left.
    Backspace: () => isAt(field.current, 0) && previous !== null && !isEmpty(text) && merge(previous, segment),
    Delete: () => isAt(field.current, text.length) && next !== null && !isEmpty(text) && merge(segment, next),
    ArrowUp: () => isAt(field.current, 0) && goTo(previous, true),
    ArrowDown: () => isAt(field.current, text.length) && goTo(next, false),
    "Alt+ArrowUp": () => goTo(previous, true),
    "Alt+ArrowDown": () => goTo(next, false),
    "Control+Space": togglePlayback,
    "Control+Shift+Space": repeat,
    "Alt+h": toggleHalfSpeed,
    "Alt+s": () => speakerField.current?.focus(),
    // The browser takes back what was typed since the field was opened.
    "Control+z": () => text === opened.current && corrections.undo(),
    "Control+Shift+z": () => text === opened.current && corrections.canRedo && corrections.redo(),
    "Control+y": () => text === opened.current && corrections.canRedo && corrections.redo(),
  };
  const press = (event: KeyboardEvent) => {
    // While a character is being composed, the keys belong to the input method. Safari reports the last one as 229.
    if (event.isComposing || event.keyCode === 229) return;
    const name = keyNameOf(event);
    const action = actions[name];
    if (action === undefined || (hasConflict && name !== "Escape" && !name.endsWith("Tab"))) return;
    event.stopPropagation();
    if (action() !== false) event.preventDefault();
  };

  /** Handles a key in the list of speakers. Tab leaves it as usual, unless it has led there. */
  const pressInSpeakers = (event: KeyboardEvent) => {
    const name = keyNameOf(event);
    const isTab = name === "Tab" || name === "Shift+Tab";
    if (name === "Escape") onClose();
    else if (name === "Enter" && isUncertain) void assign(speakerNumber);
    else if (name === "Control+z" && corrections.canUndo) void corrections.undo();
    else if (isTab && place.isSpeaker) onDoubt(name === "Tab" ? 1 : -1, text, SPEAKER);
    else return;
    event.stopPropagation();
    event.preventDefault();
  };

  return (
    <div class="editor">
      <div class="growing">
        <p class="transcribed" aria-hidden="true" dir="auto">
          {text}
        </p>
        <textarea
          ref={field}
          rows={1}
          value={text}
          dir="auto"
          lang={recording.language ?? undefined}
          aria-label={texts.field}
          aria-keyshortcuts="Enter Escape Tab"
          readOnly={waiting !== null || hasConflict}
          maxLength={20_000}
          autocomplete="off"
          spellcheck={true}
          onKeyDown={press}
          onBlur={() => {
            // When the window loses the focus, the field keeps it within the page.
            if (!isEmpty(text) || document.activeElement !== field.current) void corrections.flush();
          }}
          onInput={(event) => {
            setText(event.currentTarget.value);
            corrections.type(segment.id, event.currentTarget.value);
          }}
        />
      </div>
      <div class="editor-tools" role="toolbar" aria-label={texts.tools}>
        <ToolButton label={isPlaying ? texts.pause : texts.play} onClick={togglePlayback} />
        <ToolButton label={texts.repeat} onClick={repeat} />
        <ToolButton label={texts.halfSpeed} onClick={toggleHalfSpeed} />
        <ToolButton label={texts.split} disabled={waiting !== null} onClick={() => void split()} />
        <ToolButton
          label={texts.mergePrevious}
          disabled={previous === null || waiting !== null}
          onClick={() => void merge(previous, segment)}
        />
        <ToolButton
          label={texts.mergeNext}
          disabled={next === null || waiting !== null}
          onClick={() => void merge(segment, next)}
        />
        <ToolButton label={texts.remove} disabled={waiting !== null} onClick={() => void remove()} />
        <label class="speaker-field">
          <span class="unseen">{texts.speaker}</span>
          <select
            ref={speakerField}
            disabled={waiting !== null}
            value={speakerNumber}
            aria-describedby={isUncertain ? `uncertain-${segment.id}` : undefined}
            onKeyDown={pressInSpeakers}
            onChange={(event) => void assign(event.currentTarget.value)}
          >
            {recording.speakers.map(({ number, speaker, name }) => (
              <option key={number} value={String(number)}>
                {name ?? strings.speakers.letter(speaker)}
              </option>
            ))}
            <option value="">{texts.newSpeaker}</option>
          </select>
        </label>
        {isUncertain && (
          <>
            <ToolButton
              label={texts.confirmSpeaker}
              disabled={waiting !== null}
              onClick={() => void assign(speakerNumber)}
            />
            <span id={`uncertain-${segment.id}`} class="unseen">
              {texts.uncertain}
            </span>
          </>
        )}
        <Button text={texts.done} onClick={onClose} />
      </div>
      <div class="soft" role="status">
        {waiting !== null && <Waiting key={waiting} step={waiting} typed={typedAhead.typed} />}
        {hint ?? (isEmpty(text) && waiting === null ? texts.emptied : null)}
      </div>
    </div>
  );
}

/** Time after which a step that lasts is shown. */
const WAITING_MILLISECONDS = 400;

/** Shows that a step waits for the server, and what the user has typed since. */
function Waiting({ step, typed }: { readonly step: Step; readonly typed: string }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), WAITING_MILLISECONDS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <>
      {texts.waiting[step]}
      {typed !== "" && (
        <>
          {" "}
          {texts.typedAhead} <bdi>{typed}</bdi>
        </>
      )}
    </>
  );
}

interface ToolButtonProps {
  /** Name of the action, and its key. */
  readonly label: readonly [name: string, key: string];
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

function ToolButton({ label: [name, key], disabled = false, onClick }: ToolButtonProps) {
  return (
    <button
      type="button"
      class="quiet"
      title={key}
      disabled={disabled}
      // The caret stays in the text.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onClick}
    >
      {name}
    </button>
  );
}

/** Line ends, tabs and plain spaces, of which the server stores one space. It keeps no-break and other spaces. */
const blanks = /[\t-\r\u0020\u0085\u2028\u2029]+/gu;

/** Returns a text as the server stores it. The server also removes hidden characters, which nobody types. */
function cleaned(text: string): string {
  return text.replace(blanks, " ").trim();
}

/** Returns whether nothing is selected and the caret is at a character. */
function isAt(field: HTMLTextAreaElement | null, character: number): boolean {
  return field !== null && field.selectionStart === character && field.selectionEnd === character;
}
