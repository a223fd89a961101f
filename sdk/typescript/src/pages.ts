import { BadAnswerError } from "./errors.ts";

interface Page<T> {
  readonly data: T[];
  readonly has_more: boolean;
  readonly next_cursor: string;
}

/** Returns the entries of all pages of a list. */
export async function* allOf<T>(fetchPage: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T, void> {
  for (let cursor: string | undefined; ; ) {
    const page = await fetchPage(cursor);
    if (!Array.isArray(page.data)) throw new BadAnswerError("the answer is not a page of the API");
    yield* page.data;
    if (!page.has_more || page.data.length === 0) return;
    cursor = page.next_cursor;
  }
}
