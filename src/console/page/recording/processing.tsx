import { useState } from "preact/hooks";
import type { RecordingDetail } from "../../contract/index.ts";
import { announce } from "../announce.tsx";
import { alphabetical, languageName } from "../format.ts";
import { Button, Dialog, FormDialog, Problem, ProgressBar, recordingName, Select, statusText } from "../parts/index.ts";
import { call } from "../server.ts";
import { useViewer } from "../session.tsx";
import { strings } from "../strings.ts";
import { useAttempt, useData } from "../use-data.ts";

const texts = strings.processing;

interface ProcessingProps {
  readonly recording: RecordingDetail;
  readonly onChange: (recording: RecordingDetail) => void;
}

/** Shows the processing of a recording that is processed again, or why that failed, and starts it. */
export function Processing({ recording, onChange }: ProcessingProps) {
  const { mayChange } = useViewer();
  const [isAsking, setAsking] = useState(false);
  const { problem, isRunning, attempt } = useAttempt();
  const { id, processed_again: rerun } = recording;
  const isOpen = rerun !== null && rerun.status !== "failed";
  const cancel = () =>
    attempt(async () => {
      onChange(await call("cancelProcessing", { id }));
      announce(texts.cancelled);
    });
  return (
    <section>
      {rerun !== null && (
        <p class="soft" role="status">
          {isOpen ? texts.running(statusText(rerun)) : texts.failed(statusText(rerun))}
        </p>
      )}
      {rerun?.status === "processing" && (
        <ProgressBar label={texts.progress(recordingName(recording))} percent={rerun.progress.percent} />
      )}
      {rerun?.problem && <p class="problem">{rerun.problem}</p>}
      {rerun?.failure?.cause && (
        <p class="soft">
          {strings.recording.cause} <code>{rerun.failure.cause}</code>
        </p>
      )}
      <Problem problem={problem} />
      {mayChange && (
        <Button
          text={isOpen ? texts.cancel : texts.ask}
          disabled={isRunning}
          onClick={isOpen ? () => void cancel() : () => setAsking(true)}
        />
      )}
      {isAsking && <ProcessingDialog {...{ recording, onChange }} onClose={() => setAsking(false)} />}
    </section>
  );
}

/** Asks for the speech model and the language. */
function ProcessingDialog({ recording, onChange, onClose }: ProcessingProps & { readonly onClose: () => void }) {
  const { id } = recording;
  const { value: options, problem, retry } = useData("processingOptions", { id });
  const [chosen, setModel] = useState<string | null>(null);
  const [pinned, setLanguage] = useState<string | null>(null);
  const title = texts.title(recordingName(recording));
  if (options === null) {
    return (
      <Dialog title={title} onClose={onClose}>
        <Problem problem={problem} retry={retry} />
      </Dialog>
    );
  }
  const model = options.models.find((each) => each.id === chosen) ?? options.models[0];
  const models = options.models.map(({ id: name }) => ({ id: name, name }));
  const languages = (model?.languages ?? [])
    .map(({ code }) => ({ id: code, name: languageName(code) }))
    .sort((a, b) => alphabetical(a.name, b.name));
  const wanted = pinned ?? options.language ?? "";
  const language = languages.some((known) => known.id === wanted) ? wanted : "";
  const send = async (form: FormData) => {
    const translate = form.has("translate");
    onChange(
      await call("processAgain", { id, body: { model: model?.id ?? "", language: language || null, translate } }),
    );
    announce(texts.started);
    onClose();
  };
  return (
    <FormDialog title={title} action={texts.submit} onSubmit={send} onClose={onClose}>
      <p>{texts.means}</p>
      <Select label={texts.model} of={models} value={model?.id ?? ""} onChoose={setModel} />
      <Select
        label={texts.language}
        of={languages}
        none={strings.upload.anyLanguage}
        value={language}
        onChoose={setLanguage}
      />
      {model?.translates === true && (
        <label class="check">
          <input name="translate" type="checkbox" defaultChecked={options.translate} />
          {strings.upload.translate}
        </label>
      )}
    </FormDialog>
  );
}
