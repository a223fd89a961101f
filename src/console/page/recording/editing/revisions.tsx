import { diffWordsWithSpace } from "diff";
import { useEffect, useState } from "preact/hooks";
import type { Compared, Comparison, RecordingDetail, RevisionPage } from "../../../contract/index.ts";
import { announce } from "../../announce.tsx";
import { clock } from "../../format.ts";
import { Button, Dialog, Moment, Problem } from "../../parts/index.ts";
import { call } from "../../server.ts";
import { useViewer } from "../../session.tsx";
import { strings } from "../../strings.ts";
import { useAttempt } from "../../use-data.ts";
import type { Corrections } from "./corrections.ts";

const texts = strings.revisions;

interface RevisionsProps {
  readonly recording: RecordingDetail;
  readonly corrections: Corrections;
}

/** Shows who has corrected the transcript, and the revisions on request. */
export function Revisions({ recording, corrections }: RevisionsProps) {
  const [isOpen, setOpen] = useState(false);
  const { corrected } = recording;
  if (corrected === null) return null;
  return (
    <section>
      <h2>{texts.title}</h2>
      <p class="soft">
        {texts.by(corrected.author)} <Moment at={corrected.at} />
      </p>
      <Button text={texts.open} onClick={() => setOpen(true)} />
      {isOpen && <RevisionsDialog {...{ recording, corrections }} onClose={() => setOpen(false)} />}
    </section>
  );
}

/** Lists the revisions, compares one with the transcript as it is now, and restores it. */
function RevisionsDialog({ recording, corrections, onClose }: RevisionsProps & { readonly onClose: () => void }) {
  const { mayChange } = useViewer();
  const [pages, setPages] = useState<readonly RevisionPage[]>([]);
  const { problem, attempt } = useAttempt();
  const [compared, setCompared] = useState<number | null>(null);
  const load = (before: number | null) =>
    void attempt(async () => {
      const page = await call("revisions", { id: recording.id, query: { before } });
      setPages((loaded) => (before === null ? [page] : [...loaded, page]));
    });
  useEffect(() => load(null), [recording.id]);
  const restore = async (revision: number) => {
    if (!(await corrections.makeAll({ action: "restore", revision }))) return;
    announce(texts.restored);
    onClose();
  };
  const next = pages.at(-1)?.next_before ?? null;
  return (
    <Dialog title={texts.dialogTitle} onClose={onClose}>
      <Problem problem={problem} />
      {compared !== null ? (
        <ComparedRevision
          {...{ recording }}
          revision={compared}
          onBack={() => setCompared(null)}
          onRestore={mayChange ? () => void restore(compared) : null}
        />
      ) : (
        <>
          <ul class="revisions">
            {pages.flatMap(({ revisions }) =>
              revisions.map(({ number, author, at, action, segments }) => (
                <li key={number}>
                  <span>
                    <Moment at={at} /> <bdi>{author}</bdi>
                    <br />
                    <span class="soft">
                      {texts.actions[action]}, {texts.segments(segments)}
                    </span>
                  </span>
                  <Button text={texts.compare} of={texts.number(number)} onClick={() => setCompared(number)} />
                </li>
              )),
            )}
            {next === null && (
              <li>
                <span>{texts.recognized}</span>
                <Button text={texts.compare} of={texts.recognized} onClick={() => setCompared(0)} />
              </li>
            )}
          </ul>
          {next !== null && <Button text={strings.more} onClick={() => load(next)} />}
        </>
      )}
    </Dialog>
  );
}

interface ComparedRevisionProps {
  readonly recording: RecordingDetail;
  readonly revision: number;
  readonly onBack: () => void;
  /** Null: the user may not restore it. */
  readonly onRestore: (() => void) | null;
}

/** Shows the differences between the transcript after a revision and as it is now. */
function ComparedRevision({ recording, revision, onBack, onRestore }: ComparedRevisionProps) {
  const [comparison, setComparison] = useState<Comparison | null>(null);
  const { problem, attempt } = useAttempt();
  const load = (after: number) =>
    void attempt(async () => {
      const more = await call("comparison", { id: recording.id, query: { revision, after } });
      setComparison((before) => ({ ...more, differences: [...(before?.differences ?? []), ...more.differences] }));
    });
  useEffect(() => load(0), [revision]);
  const next = comparison?.next_after ?? null;
  return (
    <>
      <Problem problem={problem} />
      <p role="status">{comparison === null ? "" : texts.differences(comparison.total)}</p>
      <ul class="comparison">
        {comparison?.differences.map(({ before, after }, place) => (
          <li key={place}>
            <Difference before={before} after={after} />
          </li>
        ))}
      </ul>
      {next !== null && <Button text={strings.more} onClick={() => load(next)} />}
      <div class="actions">
        <Button look={null} text={texts.back} onClick={onBack} />
        {onRestore !== null && (
          <Button
            look="main"
            text={texts.restore}
            disabled={comparison === null || comparison.total === 0}
            onClick={onRestore}
          />
        )}
      </div>
    </>
  );
}

/** Shows segments before and after, with the words that differ. */
function Difference({ before, after }: { before: readonly Compared[]; after: readonly Compared[] }) {
  const lines = (segments: readonly Compared[]) =>
    segments.map(({ speaker, text }) => `${strings.speakers.letter(speaker)}: ${text}`).join("\n");
  const start = (after[0] ?? before[0])?.start ?? 0;
  return <DifferentWords start={start} before={lines(before)} after={lines(after)} />;
}

interface DifferentWordsProps {
  /** Seconds from the beginning. */
  readonly start: number;
  readonly before: string;
  readonly after: string;
}

/** Shows two texts of the same time as one, with the words that differ. */
export function DifferentWords({ start, before, after }: DifferentWordsProps) {
  return (
    <>
      <span class="soft">{clock(start)}</span>
      <p dir="auto" class="difference">
        {diffWordsWithSpace(before, after).map(({ value, added, removed }, place) => {
          const key = `${place} ${value}`;
          if (added) return <ins key={key}>{value}</ins>;
          return removed ? <del key={key}>{value}</del> : <span key={key}>{value}</span>;
        })}
      </p>
    </>
  );
}
