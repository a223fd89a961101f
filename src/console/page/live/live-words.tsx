import { Component } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { clock } from "../format.ts";
import { Button, FormDialog } from "../parts/index.ts";
import { speakerColour } from "../recording/speakers.tsx";
import { strings } from "../strings.ts";
import { type LiveText, paragraphsOf, spaceBetween, type Turn } from "./live-text.ts";

const texts = strings.live;

/** Number of turns that are compared and laid out together. A long session has thousands. */
const TURNS_PER_GROUP = 40;
/** Number of segments that a screen reader finds in the region of new words. */
const ANNOUNCED = 5;
/** Distance from the end of the page, in pixels, within which it follows new words. */
const NEAR_END = 120;

interface LiveWordsProps {
  readonly text: LiveText;
  /** Code of the language; null while it is not known. */
  readonly language: string | null;
  /** Names a speaker; null: the session has ended. */
  readonly onName: ((speaker: string, name: string) => void) | null;
}

/** Shows the words of a session, and follows them while the user is at their end. */
export function LiveWords({ text, language, onName }: LiveWordsProps) {
  const [naming, setNaming] = useState<string | null>(null);
  const [ask] = useState(() => (speaker: string) => setNaming(speaker));
  const { isAtEnd, follow } = useFollowing(text);
  const spoken = text.turns
    .slice(-ANNOUNCED)
    .flatMap(({ parts }) => parts)
    .slice(-ANNOUNCED);
  const groups = Array.from({ length: Math.ceil(text.turns.length / TURNS_PER_GROUP) }, (_, index) =>
    text.turns.slice(index * TURNS_PER_GROUP, (index + 1) * TURNS_PER_GROUP),
  );
  return (
    <>
      <section class="live-words" aria-label={texts.words} lang={language ?? undefined}>
        {groups.map((turns, index) => (
          <TurnGroup
            key={index}
            {...{ turns, names: text.names }}
            before={speakerBefore(text.turns, index * TURNS_PER_GROUP, null)}
            onAsk={onName === null ? null : ask}
          />
        ))}
        {text.turns.every(({ parts, partial }) => parts.length === 0 && partial === "") && (
          <p class="empty">{texts.none}</p>
        )}
      </section>
      <div class="unseen" role="log" aria-live="polite" aria-label={texts.latest} lang={language ?? undefined}>
        {spoken.map((part) => (
          <p key={part.number}>{part.text}</p>
        ))}
      </div>
      {!isAtEnd && (
        <div class="follow">
          <Button look="main" icon="down" text={texts.follow} onClick={follow} />
        </div>
      )}
      {naming !== null && onName !== null && (
        <NameDialog
          speaker={naming}
          name={text.names[naming] ?? ""}
          onName={(name) => onName(naming, name)}
          onClose={() => setNaming(null)}
        />
      )}
    </>
  );
}

/** Scrolls to new words while the user is at the end of the page. */
function useFollowing(text: LiveText) {
  const [isAtEnd, setAtEnd] = useState(true);
  const isFollowing = useRef(true);
  const follow = () => scrollTo(0, document.documentElement.scrollHeight);
  useLayoutEffect(() => {
    const scroll = () => {
      const { scrollHeight, clientHeight } = document.documentElement;
      isFollowing.current = scrollHeight - clientHeight - scrollY < NEAR_END;
      setAtEnd(isFollowing.current);
    };
    // A phone that is turned shows other words at the same position.
    const resize = () => isFollowing.current && follow();
    addEventListener("scroll", scroll, { passive: true });
    addEventListener("resize", resize);
    return () => {
      removeEventListener("scroll", scroll);
      removeEventListener("resize", resize);
    };
  }, []);
  useLayoutEffect(() => {
    if (isFollowing.current) follow();
  }, [text.turns]);
  return { isAtEnd, follow };
}

interface TurnsProps {
  readonly names: LiveText["names"];
  /** The speaker of the words before. */
  readonly before: string | null;
  /** Asks for the name of a speaker; null: the names can't be changed any more. */
  readonly onAsk: ((speaker: string) => void) | null;
}

/** Renders some turns again only if one of them has changed, so that a session of hours is as quick as a short one. */
class TurnGroup extends Component<TurnsProps & { readonly turns: readonly Turn[] }> {
  override shouldComponentUpdate(next: Readonly<TurnGroup["props"]>): boolean {
    const { turns, names, before, onAsk } = this.props;
    const isSame = names === next.names && before === next.before && onAsk === next.onAsk;
    return !isSame || turns.length !== next.turns.length || turns.some((turn, index) => turn !== next.turns[index]);
  }

  override render({ turns, before, ...shared }: TurnGroup["props"]) {
    return (
      <div class="turns">
        {turns.map((turn, index) => (
          <TurnRow key={turn.id} {...{ turn, ...shared }} before={speakerBefore(turns, index, before)} />
        ))}
      </div>
    );
  }
}

function TurnRow({ turn, names, before, onAsk }: TurnsProps & { readonly turn: Turn }) {
  const paragraphs = paragraphsOf(turn.parts);
  const last = paragraphs.at(-1);
  if (last === undefined && turn.partial === "") return null;
  const rows = last === undefined ? [{ speaker: null, start: turn.start, parts: [] }] : paragraphs;
  return (
    <>
      {rows.map(({ speaker, start, parts }, index) => {
        const previous = index === 0 ? before : (rows[index - 1]?.speaker ?? null);
        const isLast = index === rows.length - 1;
        return (
          <div key={parts[0]?.number ?? "partial"} class="segment" style={speakerColour(speakerIndex(speaker))}>
            {speaker !== null && speaker !== previous && (
              <p class="speaker-line">
                <Speaker speaker={speaker} name={names[speaker] ?? null} onAsk={onAsk} />
              </p>
            )}
            <div class="margin">{start !== null && <span class="at">{clock(start)}</span>}</div>
            <p class="transcribed" dir="auto">
              {parts.map((part, place) => (
                <span key={part.number}>{spaceBetween(parts[place - 1]?.text ?? "", part.text) + part.text}</span>
              ))}
              {isLast && turn.partial !== "" && (
                <span class="partial">{spaceBetween(parts.at(-1)?.text ?? "", turn.partial) + turn.partial}</span>
              )}
            </p>
          </div>
        );
      })}
    </>
  );
}

interface SpeakerProps {
  readonly speaker: string;
  readonly name: string | null;
  readonly onAsk: TurnsProps["onAsk"];
}

function Speaker({ speaker, name, onAsk }: SpeakerProps) {
  const shown = name ?? texts.speaker(speaker);
  if (onAsk === null) return <bdi class="speaker">{shown}</bdi>;
  return (
    <button type="button" class="quiet" title={texts.nameSpeaker(shown)} onClick={() => onAsk(speaker)}>
      <bdi class="speaker">{shown}</bdi>
    </button>
  );
}

/** Returns the speaker of the last final words before a turn. @param none the speaker if there are no words before */
function speakerBefore(turns: readonly Turn[], index: number, none: string | null): string | null {
  for (let place = index - 1; place >= 0; place--) {
    const last = turns[place]?.parts.at(-1);
    if (last !== undefined) return last.speaker;
  }
  return none;
}

/** Returns the index of a speaker's colour: `S1` has the first one. */
function speakerIndex(speaker: string | null): number {
  return Math.max(0, Number.parseInt(speaker?.slice(1) ?? "1", 10) - 1 || 0);
}

interface NameDialogProps {
  readonly speaker: string;
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}

function NameDialog({ speaker, name, onName, onClose }: NameDialogProps) {
  const send = async (form: FormData) => {
    const given = String(form.get("name") ?? "").trim();
    if (given !== "") onName(given);
    onClose();
  };
  return (
    <FormDialog
      title={texts.nameSpeaker(texts.speaker(speaker))}
      action={strings.save}
      onSubmit={send}
      onClose={onClose}
    >
      <p class="soft">{texts.nameMeans}</p>
      <label>
        {texts.speakerName}
        <input name="name" defaultValue={name} required maxLength={100} autocomplete="off" dir="auto" />
      </label>
    </FormDialog>
  );
}
