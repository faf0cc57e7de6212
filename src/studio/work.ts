import type { MessagePort } from 'node:worker_threads'

/** A job for a worker thread: an endpoint's input and its context. */
export interface Work {
  craft: Craft
  input: Input
  /** Decides everything the input leaves open, so that the same work always gives the same bytes. */
  seed: number
  /** The file at the input's `image_url`. */
  source?: Uint8Array
  /** Whether the work may take the source: its memory then moves into the thread and is gone for the caller. */
  givesSource?: boolean
  /** A single value from 0 to 1 in shared memory: written by the worker, read at any time. */
  progress?: Float32Array
  /** To the studio, which limits the work's time and the sources that are decoded at once. */
  line?: MessagePort
}

export type Craft = 'picture' | 'repaint' | 'thumbnail' | 'film' | 'music' | 'speech'

export type Input = Record<string, unknown>

export interface Made {
  mimeType: string
  bytes: Uint8Array
}

/** An unusable input, with the reason for the client. Not an exception, which would lose its class between threads. */
export interface Unusable {
  unusable: string
}

export const isUnusable = (result: Made | Unusable): result is Unusable => 'unusable' in result

/** A string from the input, or ''. */
export const textIn = (input: Input, name: string): string => (typeof input[name] === 'string' ? input[name] : '')

/** A number from the input, or a default. */
export const numberIn = (input: Input, name: string, byDefault: number): number =>
  typeof input[name] === 'number' ? input[name] : byDefault
