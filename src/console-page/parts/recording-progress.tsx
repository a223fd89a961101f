import type { ListedRecording } from "../../console/contract.ts";
import { strings } from "../strings.ts";
import { ProgressBar } from "./meters.tsx";

/** How far the step is that a recording is at. @param props.name of the recording */
export function RecordingProgress({ name, progress }: { name: string } & Pick<ListedRecording, "progress">) {
  return <ProgressBar label={strings.progressOf(name)} percent={progress.percent} />;
}
