export { openApiDocument } from "./document.ts";
export { page, pagePolicy, pageScript, swaggerUiFiles } from "./page.ts";
export { aliveSchema, readySchema } from "./paths.ts";
