export { findAll, type TextSpan } from "./folded-text.ts";
export { type FoundRecording, type SearchFilter, type SearchPage, searchRecordings } from "./search.ts";
export { removeSearchable, SearchIndex } from "./search-index.ts";
export { SearchQuery } from "./search-query.ts";
export { type Snippet, snippetOf } from "./snippet.ts";
