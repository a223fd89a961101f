import { asc, eq } from "drizzle-orm";
import { type Recording, tables, type Writer } from "../database/index.ts";
import { cleanText, ExpectedError } from "../text/index.ts";

/** Maximum number of tags of a recording. */
export const MAX_TAGS = 20;
/** Maximum length of a tag. */
export const MAX_TAG_CHARACTERS = 50;

const { recordingTags } = tables;

/** A tag is not valid. The message is a sentence that does not repeat it. */
export class TagError extends ExpectedError {
  override readonly name = "TagError";
}

/** Returns a tag as it is stored, without surrounding space. @throws {TagError} when it is not valid */
export function parseTag(text: string): string {
  const tag = cleanText(text).normalize("NFC");
  if (/\p{Cc}/u.test(text.trim())) throw new TagError("A tag has no control characters.");
  if (tag.includes(",")) throw new TagError("A tag has no comma.");
  if (tag === "" || [...tag].length > MAX_TAG_CHARACTERS) {
    throw new TagError(`A tag has 1 to ${MAX_TAG_CHARACTERS} characters.`);
  }
  return tag;
}

/** Returns the tags of a recording, sorted. */
export function readTags(reader: Pick<Writer, "select">, recordingId: string): string[] {
  return reader
    .select({ tag: recordingTags.tag })
    .from(recordingTags)
    .where(eq(recordingTags.recordingId, recordingId))
    .orderBy(asc(recordingTags.tag))
    .all()
    .map(({ tag }) => tag);
}

/** Replaces the tags of a recording. */
export function replaceTags(
  writer: Writer,
  { id: recordingId, accountId }: Pick<Recording, "id" | "accountId">,
  tags: ReadonlySet<string>,
): void {
  writer.delete(recordingTags).where(eq(recordingTags.recordingId, recordingId)).run();
  for (const tag of tags) writer.insert(recordingTags).values({ accountId, tag, recordingId }).run();
}
