import type { ApiClient, ListedTranscription } from "./api-client.ts";
import type { Persistence } from "./persistence.ts";

const largestPage = 100;

/** Returns up to `limit` recordings, newest first, fetched page by page. @throws {ClientError} */
export async function listRecordings(
  client: ApiClient,
  persistence: Persistence,
  { status, limit }: { readonly status: string | undefined; readonly limit: number },
): Promise<ListedTranscription[]> {
  const found: ListedTranscription[] = [];
  for (let cursor = ""; ; ) {
    const query = {
      limit: String(Math.min(largestPage, limit - found.length)),
      ...(status === undefined ? {} : { status }),
      ...(cursor === "" ? {} : { cursor }),
    };
    const page = await persistence.run(() => client.list(query, persistence.signal));
    found.push(...page.data);
    if (!page.has_more || page.data.length === 0 || found.length >= limit) return found;
    cursor = page.next_cursor;
  }
}
