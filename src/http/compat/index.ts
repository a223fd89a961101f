export { asrRoutes, isAsrPath, toAsrAnswer } from "./asr.ts";
export { openAiForm } from "./form.ts";
export { modelListSchema, modelSchema } from "./models.ts";
export { openAiErrorSchema, toOpenAiAnswer } from "./openai-error.ts";
export { isOpenAiPath, openAiOperations } from "./operations.ts";
export { isAzurePath, isRealtimePath, realtimeRoutes } from "./realtime/index.ts";
export { openAiTranscriptSchema } from "./render.ts";
export { openAiRoutes } from "./routes.ts";
export type { TranscriptionServices } from "./waiting-transcripts.ts";
