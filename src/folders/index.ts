export { type AddedFolder, addFolder } from "./add-folder.ts";
export { ownPlaces } from "./closed-places.ts";
export { doubtTexts } from "./completeness.ts";
export { type FolderOverview, FolderWatcher } from "./folder-watcher.ts";
export {
  type Folder,
  FolderError,
  listFolders,
  listOpenFiles,
  type OpenFile,
  removeFolder,
} from "./folders.ts";
export { hindranceKinds, hindranceTexts, isLimit } from "./hindrances.ts";
