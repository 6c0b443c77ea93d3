/** The same as bare-worker.mjs, for a worker of the web. */
globalThis.onmessage = ({ data }) => globalThis.postMessage(data);
