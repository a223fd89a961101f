import { openItem, type WorkItem } from "../blocks/index.ts";
import type { WorkArea } from "../timeline/index.ts";
import { layOut } from "./messages.ts";

interface Attachment {
  item: WorkItem;
  bytes: number;
}

/**
 * Packs a message with items of a work area. They are read to their places in the message, because each copy of a block
 * of PCM, four megabytes, stops the server for milliseconds.
 * @param headerWith returns the header with its attachments
 * @throws {Error} if an item cannot be read
 */
export async function packItems(
  area: WorkArea,
  items: readonly WorkItem[],
  headerWith: (attachments: Attachment[]) => { readonly attachments: readonly Attachment[] },
): Promise<Uint8Array> {
  const opened = await Promise.all(items.map(async (item) => ({ item, content: await openItem(area, item) })));
  const attachments = opened.map(({ item, content }) => ({ item, bytes: content.bytes }));
  const { message, places } = layOut(
    headerWith(attachments),
    attachments.map(({ bytes }) => bytes),
  );
  await Promise.all(opened.map(({ content }, at) => content.readInto(places[at] as Uint8Array)));
  return message;
}
