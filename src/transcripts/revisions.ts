import { Value } from "@sinclair/typebox/value";
import { and, asc, desc, eq, gt, lt, lte, sql } from "drizzle-orm";
import { type Store, tables, type Writer } from "../database/index.ts";
import { latestRevision } from "../segments/index.ts";
import { cleanText } from "../text/index.ts";
import { type Change, packChanges, unpackChanges } from "./changes.ts";
import { CorrectedRows } from "./corrected-rows.ts";
import {
  type Corrected,
  type Correcting,
  type Correction,
  CorrectionError,
  type Edit,
  placeSchema,
} from "./correction.ts";
import type { Draft } from "./draft.ts";

/**
 * Time after which typing in the same segment makes another revision. People pause for minutes to listen, and seldom
 * want to go back further than to what they found.
 */
const TYPING_MILLISECONDS = 10 * 60_000;
/** Number of a recording's revisions that are stored. The oldest are removed; the recognized transcript remains. */
const MAX_REVISIONS = 10_000;
/** Characters of a recording's changes that are stored, in addition to the latest revision. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** Number of revisions between two checks of these limits. */
const REVISIONS_PER_CHECK = 100;

const { revisions } = tables;

/** A revision of a transcript, without its changes. */
export type Revision = Pick<typeof revisions.$inferSelect, keyof typeof columns>;

const columns = {
  number: revisions.number,
  author: revisions.author,
  at: revisions.at,
  action: revisions.action,
  editor: revisions.editor,
  segments: revisions.segments,
};

const isOf = (recordingId: string) => eq(revisions.recordingId, recordingId);

/** A person on a page. The page chooses its id, so that the id alone may also be that of another person's page. */
export type Editing = Pick<Correcting, "author" | "editor">;

const isBy = (revision: Editing, { author, editor }: Editing) =>
  revision.author === author && revision.editor === editor;

/**
 * Returns up to `limit` revisions, newest first.
 * @param before number of the revision before which to start; null for the newest
 */
export function listRevisions(store: Store, recordingId: string, before: number | null, limit: number): Revision[] {
  return store
    .select(columns)
    .from(revisions)
    .where(and(isOf(recordingId), before === null ? undefined : lt(revisions.number, before)))
    .orderBy(desc(revisions.number))
    .limit(limit)
    .all();
}

/** A replacement of segments. Several apply one after the other. */
export type Splice = Omit<Extract<Change, { kind: "segments" }>, "kind">;

/** Limits of what a page is told of changes, instead of reading the transcript again. */
const MAX_SPLICED_REVISIONS = 100;
const MAX_SPLICED_SEGMENTS = 200;
/** In the stored form. The page's form takes up to 2.5 times as much. */
const MAX_SPLICED_BYTES = 1024 * 1024;

/** The changes of a transcript after a revision. */
export interface LaterChanges {
  /** Null if the changes are many, or change the order of the speakers: the transcript must be read again. */
  readonly splices: readonly Splice[] | null;
  /** The people who changed something, except for the person who asks, on the same page. */
  readonly authors: readonly string[];
}

/**
 * Returns what has changed after a revision, which is enough to update what a page shows.
 * @param by the person who asks, and the page
 */
export function changesAfter(store: Store, recordingId: string, seen: number, by: Editing): LaterChanges {
  const later = store
    .select({
      ...columns,
      reorders: revisions.reorders,
      bytes: sql<number>`octet_length(${revisions.changes})`,
    })
    .from(revisions)
    .where(and(isOf(recordingId), gt(revisions.number, seen)))
    .orderBy(asc(revisions.number))
    .limit(MAX_SPLICED_REVISIONS + 1)
    .all();
  const others = later.filter((revision) => !isBy(revision, by));
  const authors = [...new Set(others.map(({ author }) => author))];
  const segments = later.reduce((sum, revision) => sum + revision.segments, 0);
  const bytes = later.reduce((sum, revision) => sum + revision.bytes, 0);
  const { revision, state } = latestRevision(store, recordingId);
  const isShort =
    later.length <= MAX_SPLICED_REVISIONS && segments <= MAX_SPLICED_SEGMENTS && bytes <= MAX_SPLICED_BYTES;
  // A page may have seen more than a database that was restored from a backup.
  const isWhole = seen <= revision && seen >= (state?.trimmed ?? 0);
  if (!isShort || !isWhole || later.some(({ reorders }) => reorders)) return { splices: null, authors };
  const changes = later.flatMap(({ number }) => changesOf(store, recordingId, number));
  const spoken = new Set(changes.flatMap((change) => (change.kind === "speakers" ? change.ids : [])));
  const rows = new CorrectedRows(store, recordingId);
  // Segments with another speaker follow, in their latest state and at their latest positions.
  const splices: Splice[] = changes.filter((change) => change.kind === "segments");
  let assignedBytes = 0;
  for (const id of spoken) {
    const row = rows.find(id);
    if (row === null) continue;
    assignedBytes += Buffer.byteLength(row.text) + Buffer.byteLength(row.words);
    if (bytes + assignedBytes > MAX_SPLICED_BYTES) return { splices: null, authors };
    splices.push({ index: row.index, removed: [row], inserted: [row] });
  }
  return { splices, authors };
}

function rowOf(writer: Writer, recordingId: string, number: number) {
  const isIt = and(isOf(recordingId), eq(revisions.number, number));
  return writer.select().from(revisions).where(isIt).get();
}

/** Returns the changes of a revision. @throws {CorrectionError} `no_such_revision` */
export function changesOf(writer: Writer, recordingId: string, number: number): Change[] {
  const row = rowOf(writer, recordingId, number);
  const changes = row === undefined ? null : unpackChanges(row.changes);
  if (changes === null) throw new CorrectionError("no_such_revision");
  return changes;
}

/** Returns the outcome of a repeated request; null if the request is new. */
export function sentBefore(writer: Writer, recordingId: string, by: Correcting): Corrected | null {
  const { number, replaces, next } = revisions;
  const last = writer
    .select({ number, replaces, next, sequence: revisions.sequence })
    .from(revisions)
    .where(and(isOf(recordingId), eq(revisions.author, by.author), eq(revisions.editor, by.editor)))
    .orderBy(desc(revisions.number))
    .limit(1)
    .get();
  if (last === undefined || last.sequence < by.sequence) return null;
  const place: unknown = last.next === null ? null : JSON.parse(last.next);
  return { number: last.number, replaces: last.replaces, next: Value.Check(placeSchema, place) ? place : null };
}

/** A revision that is stored. */
export interface NewRevision {
  readonly draft: Draft;
  /** The correction of a person, the rerun that a person started, or the replacements of the account. */
  readonly correction: Correction | Edit | { readonly action: "process" | "respell" };
  readonly by: Omit<Correcting, "seen">;
  readonly reorders: boolean;
  readonly next: Corrected["next"];
}

/**
 * Stores a revision. Typing in one segment continues the revision before, so that there is one for each segment and not
 * for each pause.
 * @returns number of the revision that this one continues and replaces; null for none
 */
export function storeRevision(
  writer: Writer,
  recordingId: string,
  { draft, correction, by, reorders, next }: NewRevision,
): number | null {
  const { number } = draft;
  const continued = correction.action === "text" ? typedBefore(writer, recordingId, draft, by) : null;
  const [change] = draft.changes;
  const changes =
    continued !== null && change?.kind === "segments" ? [{ ...change, removed: continued.removed }] : draft.changes;
  if (continued !== null) {
    writer
      .delete(revisions)
      .where(and(isOf(recordingId), eq(revisions.number, continued.number)))
      .run();
  }
  writer
    .insert(revisions)
    .values({
      ...{ recordingId, number, reorders, segments: draft.segments },
      action: actionOf(writer, recordingId, correction),
      ...{ author: by.author, at: by.now, editor: by.editor, sequence: by.sequence },
      replaces: continued?.number ?? null,
      next: next === null ? null : JSON.stringify(next),
      changes: packChanges(changes),
    })
    .run();
  return continued?.number ?? null;
}

/** Returns the kind of a correction, as people know it. */
function actionOf(writer: Writer, recordingId: string, correction: NewRevision["correction"]): Revision["action"] {
  if (correction.action === "text" && cleanText(correction.text) === "") return "delete";
  if (correction.action === "edit") return actionOfEdit(correction);
  if (correction.action !== "revert") return correction.action;
  return rowOf(writer, recordingId, correction.revision)?.action === "revert" ? "redo" : "revert";
}

function actionOfEdit({ texts, speakers }: Edit): Revision["action"] {
  if (texts.length === 0) return "assign";
  return speakers.length === 0 && texts.every(({ text }) => cleanText(text) === "") ? "delete" : "text";
}

/** Returns the latest revision, if the same person has just typed in the same segment on the same page. */
function typedBefore(writer: Writer, recordingId: string, draft: Draft, by: NewRevision["by"]) {
  const row = rowOf(writer, recordingId, draft.number - 1);
  if (row?.action !== "text" || !isBy(row, by) || by.now - row.at > TYPING_MILLISECONDS) return null;
  const [before] = unpackChanges(row.changes) ?? [];
  const [change] = draft.changes;
  if (before?.kind !== "segments" || change?.kind !== "segments") return null;
  const [typed] = before.inserted;
  if (typed === undefined || typed.id !== change.removed[0]?.id) return null;
  return { number: row.number, removed: before.removed };
}

/**
 * Removes the oldest revisions beyond the limits of a recording, from time to time and after a large one.
 * @returns number of the latest that was removed; null for none
 */
export function trimRevisions(writer: Writer, recordingId: string, latest: number, isLarge: boolean): number | null {
  if (!isLarge && latest % REVISIONS_PER_CHECK !== 0) return null;
  const sizes = writer
    .select({ number: revisions.number, characters: sql<number>`length(${revisions.changes})` })
    .from(revisions)
    .where(isOf(recordingId))
    .orderBy(desc(revisions.number))
    .all();
  let characters = 0;
  const beyond = sizes.find((revision, place) => {
    characters += revision.characters;
    return revision.number < latest && (place >= MAX_REVISIONS || characters > MAX_CHARACTERS);
  });
  if (beyond === undefined) return null;
  writer
    .delete(revisions)
    .where(and(isOf(recordingId), lte(revisions.number, beyond.number)))
    .run();
  return beyond.number;
}
