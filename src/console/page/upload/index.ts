export { UploadButton, UploadProvider } from "./upload-provider.tsx";
