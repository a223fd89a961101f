export { Actions, Confirm, Dialog } from "./dialog.tsx";
export { Options, SearchField } from "./fields.tsx";
export { Icon, IconButton, Mark } from "./icons.tsx";
export { Figure, Figures, Meter, ProgressBar, RecordingProgress } from "./meters.tsx";
export { Told, useTitle } from "./problem.tsx";
export { Ago, Marked, Moment, OwnerName, StatusWord, wordsFor } from "./recording-texts.tsx";
