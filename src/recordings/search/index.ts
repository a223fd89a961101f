export { findAll } from "./folded-text.ts";
export { searchRecordings } from "./search.ts";
export { removeSearchable, SearchIndex } from "./search-index.ts";
export { SearchQuery } from "./search-query.ts";
export { snippetOf } from "./snippet.ts";
