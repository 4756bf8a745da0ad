/** What an AudioWorkletGlobalScope has and TypeScript's DOM library lacks. */

declare const sampleRate: number;
declare const currentFrame: number;

declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

declare function registerProcessor(
  name: string,
  processor: new (options: any) => AudioWorkletProcessor,
): void;
