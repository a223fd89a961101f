import { useEffect, useState } from "preact/hooks";
import type { LiveComparison } from "../../contract/index.ts";
import { Button, Dialog, Problem } from "../parts/index.ts";
import { call } from "../server.ts";
import { strings } from "../strings.ts";
import { useAttempt } from "../use-data.ts";
import { DifferentWords } from "./editing/revisions.tsx";

const texts = strings.liveText;

/** Offers to compare the transcript with the words that appeared while people spoke. */
export function LiveWords({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section>
      <h2>{texts.title}</h2>
      <Button text={texts.open} onClick={() => setOpen(true)} />
      {isOpen && <LiveWordsDialog id={id} onClose={() => setOpen(false)} />}
    </section>
  );
}

function LiveWordsDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const [comparison, setComparison] = useState<LiveComparison | null>(null);
  const { problem, isRunning, attempt } = useAttempt();
  const load = (after: number) =>
    void attempt(async () => {
      const more = await call("liveComparison", { id, query: { after } });
      setComparison((before) => ({ ...more, parts: [...(before?.parts ?? []), ...more.parts] }));
    });
  useEffect(() => load(0), [id]);
  const next = comparison?.next_after ?? null;
  return (
    <Dialog title={texts.dialogTitle} onClose={onClose}>
      <Problem problem={problem} />
      <p class="soft">{texts.means}</p>
      <p role="status">{comparison?.parts.length === 0 ? texts.none : ""}</p>
      <ul class="comparison">
        {comparison?.parts.map(({ start, live, transcript }) => (
          <li key={start}>
            <DifferentWords {...{ start }} before={live} after={transcript} />
          </li>
        ))}
      </ul>
      {next !== null && <Button text={strings.more} disabled={isRunning} onClick={() => load(next)} />}
    </Dialog>
  );
}
