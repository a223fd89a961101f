export { Dialog } from "./dialog.tsx";
export { Icon, type IconName, Mark } from "./icons.tsx";
export { Marked } from "./marked.tsx";
export { Meter, ProgressBar } from "./meters.tsx";
export { OwnerName } from "./owner-name.tsx";
export { StatusWord, wordsFor } from "./status-word.tsx";
export { Ago, Moment } from "./times.tsx";
export { Told } from "./told.tsx";
export { useTitle } from "./use-title.ts";
