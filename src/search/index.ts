export { findAll, foldText, type TextSpan } from "./folded-text.ts";
export { type SearchPage, searchRecordings } from "./search.ts";
export { indexMissing, indexRecording, removeSearchable, renewSearchable, updateSearchable } from "./search-index.ts";
export { SearchIndexer } from "./search-indexer.ts";
export { SearchQuery, spaceless } from "./search-query.ts";
export { snippetOf } from "./snippet.ts";
