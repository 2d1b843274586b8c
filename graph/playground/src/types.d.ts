/// <reference types="vite/client" />

declare module '*?worker' {
  const create: new () => Worker;
  export default create;
}

/** Where Monaco looks for its workers. */
declare var MonacoEnvironment: { getWorker(id: string, label: string): Worker };
