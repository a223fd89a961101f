import type { ListedRecording } from "../../console/contract.ts";
import { strings } from "../strings.ts";
import { ProgressBar } from "./meters.tsx";

/**
 * Renders the progress of a recording's current step.
 * @param props.name name of the recording
 */
export function RecordingProgress({ name, progress }: { name: string } & Pick<ListedRecording, "progress">) {
  return <ProgressBar label={strings.progressOf(name)} percent={progress.percent} />;
}
