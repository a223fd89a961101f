/**
 * The protocol between the console's page and the server, under `/console/data/`. Each route is declared once: the server
 * registers its handler, and the page calls it, by its name. Every error response has a `ConsoleErrorBody`.
 *
 * For the browser, the bundle replaces this module by the methods and paths of the routes (bundle-page.ts).
 */
import { accountRoutes } from "./accounts.ts";
import { correctionRoutes } from "./corrections.ts";
import { liveRoutes } from "./live.ts";
import { overviewRoutes } from "./overview.ts";
import { playbackRoutes } from "./playback.ts";
import { processingRoutes } from "./processing.ts";
import { recordingRoutes } from "./recordings.ts";
import { replacementRoutes } from "./replacements.ts";
import type { AnswerOf, RequestOf } from "./route.ts";
import { sessionRoutes } from "./session.ts";
import { transcriptRoutes } from "./transcript.ts";
import { voiceRoutes } from "./voices.ts";
import { webhookRoutes } from "./webhooks.ts";

export * from "./accounts.ts";
export * from "./corrections.ts";
export * from "./live.ts";
export * from "./overview.ts";
export * from "./playback.ts";
export * from "./processing.ts";
export * from "./recordings.ts";
export * from "./replacements.ts";
export * from "./route.ts";
export * from "./session.ts";
export * from "./shared.ts";
export * from "./transcript.ts";
export * from "./voices.ts";
export * from "./webhooks.ts";

/** Every data route of the console. */
export const routes = {
  ...sessionRoutes,
  ...overviewRoutes,
  ...recordingRoutes,
  ...playbackRoutes,
  ...processingRoutes,
  ...transcriptRoutes,
  ...correctionRoutes,
  ...voiceRoutes,
  ...liveRoutes,
  ...accountRoutes,
  ...webhookRoutes,
  ...replacementRoutes,
};
export type RouteName = keyof typeof routes;
/** All parts of a request to each route. */
export type Requests = { readonly [Name in RouteName]: RequestOf<(typeof routes)[Name]> };
/** The answer of each route. */
export type Answers = { readonly [Name in RouteName]: AnswerOf<(typeof routes)[Name]> };
