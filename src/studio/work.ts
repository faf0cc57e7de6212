/** What a thread of the studio is asked for: an endpoint's input, and all that is not in it. */
export interface Work {
  craft: Craft
  input: Input
  /** Decides what the input leaves open, so that the same work always gives the same bytes. */
  seed: number
  /** The picture that the input points to. */
  source?: Uint8Array
  /** From 0 to 1 in its only place, in memory that the threads share: written by the worker, read at any time. */
  progress?: Float32Array
}

export type Craft = 'picture' | 'repaint' | 'film' | 'music' | 'speech'

export type Input = Record<string, unknown>

export interface Made {
  mimeType: string
  bytes: Uint8Array
}

/** Why the input cannot be worked with, for the client. An exception would lose its class between threads. */
export interface Unusable {
  unusable: string
}

export const isUnusable = (result: Made | Unusable): result is Unusable => 'unusable' in result

/** A text of the input, or nothing. */
export const textIn = (input: Input, name: string): string => (typeof input[name] === 'string' ? input[name] : '')

/** A number of the input, or what stands in for it. */
export const numberIn = (input: Input, name: string, otherwise: number): number =>
  typeof input[name] === 'number' ? input[name] : otherwise
