import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { UsedRows } from "../rows/virtual-rows.ts";
import type { TranscriptData } from "../transcript/transcript-data.ts";
import { keyNameOf } from "../use-keys.ts";
import { type EditedPlace, type Step, TypeAhead } from "./type-ahead.ts";

interface EditedTranscript {
  readonly data: TranscriptData;
  readonly rows: UsedRows["rows"];
  readonly mayChange: boolean;
  /** Called before a place is edited. */
  readonly onEdit: (place: EditedPlace) => void;
}

/** Holds which segment the user corrects, and moves to other places. Rows that are not visible are scrolled to. */
export function useEditing({ data, rows, mayChange, onEdit }: EditedTranscript) {
  const [editing, setEditing] = useState<EditedPlace | null>(null);
  const [step, setStep] = useState<Step | null>(null);
  const [hint, setHint] = useState<string | null>(null);
  const [ahead] = useState(() => new TypeAhead());
  const [, setChanges] = useState(0);
  ahead.onChange = () => setChanges((before) => before + 1);
  /** Id of the segment whose text gets the focus when its editor is closed. */
  const left = useRef<number | null>(null);
  const handler = useRef(onEdit);
  handler.current = onEdit;

  const open = useCallback(
    (place: EditedPlace) => {
      const index = data.indexOf(place.id);
      setStep(null);
      if (index < 0) return void ahead.take();
      handler.current(place);
      setEditing(place);
      const row = rows.current?.rows.get(index);
      if (row === undefined || rows.current?.isComfortable(row.getBoundingClientRect()) !== true) {
        rows.current?.scrollTo(index, (element) => element);
      }
    },
    [ahead, data, rows],
  );
  /** Edits a place. A step that leads to another place ends. */
  const edit = useCallback(
    (place: EditedPlace) => {
      if (!mayChange) return;
      ahead.begin();
      open(place);
    },
    [ahead, open, mayChange],
  );
  /** Edits the place to which a step of the user leads. It stays at the same place if there is none. */
  const move = useCallback(
    async (next: Step, find: () => Promise<EditedPlace | null>) => {
      if (ahead.isWaiting) return;
      const wait = ahead.begin();
      setStep(next);
      const place = await find();
      // The user has gone elsewhere meanwhile.
      if (!ahead.isCurrent(wait)) return;
      if (place !== null) return open(place);
      ahead.take();
      setStep(null);
    },
    [ahead, open],
  );
  const close = useCallback(() => {
    ahead.take();
    setStep(null);
    setEditing((before) => {
      left.current = before?.id ?? null;
      return null;
    });
  }, [ahead]);
  useLayoutEffect(() => {
    if (editing !== null || left.current === null) return;
    textAt(rows, data.indexOf(left.current))?.focus();
    left.current = null;
  }, [editing, data, rows]);
  // Somebody has removed the segment, or joined it to another one. The user's own steps lead to another segment.
  const isGone = editing !== null && data.outline !== null && data.indexOf(editing.id) < 0 && !ahead.isWaiting;
  useEffect(() => {
    if (isGone || !mayChange) setEditing(null);
  }, [isGone, mayChange]);
  useKeptFocus(data, rows);

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      setHint(null);
      const target = event.target instanceof Element ? event.target : null;
      if (!target?.matches("body, p.transcribed, .editor textarea") || !ahead.press(event, keyNameOf(event))) return;
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener("keydown", press, { capture: true });
    return () => removeEventListener("keydown", press, { capture: true });
  }, [ahead]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      if (!target?.matches("p.transcribed")) return;
      const index = Number(target.closest<HTMLElement>("[data-index]")?.dataset.index);
      const direction = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      const segment = data.get(index);
      if (keyNameOf(event) === "Enter" && segment !== null) edit({ id: segment.id, selection: [0, 0] });
      else if (direction !== undefined && keyNameOf(event) === event.key) textAt(rows, index + direction)?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [data, rows, edit]);
  return { editing, edit, move, close, step, typedAhead: ahead, hint, setHint };
}

function textAt(rows: UsedRows["rows"], index: number): HTMLElement | null {
  return rows.current?.rows.get(index)?.querySelector<HTMLElement>(".transcribed") ?? null;
}

/** Moves the focus to a neighbour when the segment that has it is removed. */
function useKeptFocus(data: TranscriptData, rows: UsedRows["rows"]): void {
  /** Position of the segment that had the focus before the last change. */
  const focused = useRef<number | null>(null);
  useEffect(
    () =>
      data.onSegments(() => {
        const row = document.activeElement?.closest<HTMLElement>("li.segment");
        focused.current = row == null ? null : Number(row.dataset.index);
      }),
    [data],
  );
  useLayoutEffect(() => {
    if (focused.current === null) return;
    const last = (data.outline?.characters.length ?? 0) - 1;
    if (document.activeElement === document.body) textAt(rows, Math.min(focused.current, last))?.focus();
    focused.current = null;
  });
}
