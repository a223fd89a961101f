export { Button, IconButton } from "./buttons.tsx";
export { Dialog, FormDialog } from "./dialog.tsx";
export { SearchField, Select } from "./fields.tsx";
export { Icon, Logo } from "./icons.tsx";
export { Figure, Meter, ProgressBar } from "./meters.tsx";
export { Problem, useTitle } from "./problem.tsx";
export { Ago, MarkedText, Moment, OwnerName, recordingName, StatusText, statusText } from "./recording-texts.tsx";
