export { openApiDocument } from "./document.ts";
export { page, pagePolicy, pageScript } from "./page.ts";
export { swaggerUiFiles } from "./swagger-ui.ts";
