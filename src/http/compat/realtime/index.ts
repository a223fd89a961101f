export { isAzurePath, isRealtimePath, type RealtimeServices, realtimeRoutes } from "./routes.ts";
