import type { SegmentResource } from "../../http/index.ts";
import type { ApiClient } from "./api-client.ts";
import type { Persistence } from "./persistence.ts";

/** Returns all segments of a completed recording, fetched page by page. @throws {ClientError} */
export async function readSegments(
  client: ApiClient,
  persistence: Persistence,
  id: string,
): Promise<SegmentResource[]> {
  const segments: SegmentResource[] = [];
  for (let cursor = ""; ; ) {
    const page = await persistence.run(() => client.segments(id, cursor, persistence.signal));
    segments.push(...page.data);
    if (page.next_cursor === "" || page.data.length === 0) return segments;
    cursor = page.next_cursor;
  }
}
