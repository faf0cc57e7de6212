import type { Readable } from 'node:stream'

/** Where results and uploads lie, by key. A key is `<folder>/<random bits>.<ending>`. */
export interface ObjectStore {
  /** Stores an object, and resolves when it is durable. Storing the same key again replaces it. */
  put(key: string, bytes: Uint8Array): Promise<void>
  /** An object's bytes as a stream, with their number; undefined when there is none. */
  get(key: string): Promise<StoredObject | undefined>
  /** Whether the store answers. */
  check(): Promise<void>
}

export interface StoredObject {
  sizeBytes: number
  body: Readable
}
