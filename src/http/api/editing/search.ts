import type { AnyElysia } from "elysia";
import { toListed } from "../../../api-contract/index.ts";
import type { Store } from "../../../database/index.ts";
import { ExportQueue } from "../../../exports/index.ts";
import type { Library } from "../../../library/index.ts";
import { type SearchIndexer, SearchQuery, snippetOf } from "../../../search/index.ts";
import { addRoute } from "../../shared/operations.ts";
import { decodeCursor, parseStatuses, parseTag, toPage } from "../../shared/query.ts";
import { readerOf } from "../../shared/request-context.ts";
import { editingOperations } from "./operations.ts";

export interface SearchServices {
  readonly store: Store;
  readonly library: Library;
  readonly searchIndexer: Pick<SearchIndexer, "add" | "isBusy">;
}

const isSearchPosition = (text: string) => /^-?\d{1,15}$/.test(text);

/** Adds the route that searches names and transcripts of recordings. */
export function addSearchRoute(api: AnyElysia, { store, library, searchIndexer }: SearchServices): void {
  // A search may read many rows of other accounts, so each account has one at a time.
  const searches = new ExportQueue(2);

  addRoute(api, editingOperations.searchTranscriptions, ({ request, viewer, query }) => {
    const { limit } = query;
    const search = new SearchQuery(query.q);
    const filter = { statuses: parseStatuses(query.status), tag: parseTag(query.tag) };
    const position = decodeCursor("s", isSearchPosition, query.cursor);
    return searches.run(
      viewer.account.id,
      async () => {
        const is_partial = searchIndexer.isBusy;
        if (search.isEmpty) return { ...toPage([], "s", null), is_partial };
        const before = position === null ? null : Number(position);
        const { found, next } = await library.search(viewer, search, filter, before, limit);
        const withHits = found.filter(({ segments }) => segments.length > 0);
        library.reads.viewed(
          readerOf(request, "v1"),
          withHits.map(({ recording }) => recording),
        );
        const shown = found.map(({ recording, segments, hasMoreSegments }) => {
          const transcript = library.transcriptOf(viewer, recording);
          const hits = segments
            .flatMap((id) => transcript.segment(id) ?? [])
            .toSorted((a, b) => a.index - b.index)
            .map(({ index, text, startMilliseconds }) => {
              const snippet = snippetOf(text, search.marksIn(text));
              const marks = snippet.marks.map(([start, end]) => ({ start, end }));
              return { index, start: startMilliseconds / 1000, text: snippet.text, marks };
            });
          return {
            transcription: toListed(store, recording),
            tags: library.tagsOf(viewer, recording),
            hits,
            has_more_hits: hasMoreSegments,
          };
        });
        return { ...toPage(shown, "s", next), is_partial };
      },
      request.signal,
    );
  });
}
