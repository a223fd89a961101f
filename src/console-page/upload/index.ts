export { UploadButtons, UploadProvider } from "./upload-provider.tsx";
