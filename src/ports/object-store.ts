import type { Readable, Writable } from 'node:stream'
import type { PutRefusal } from '../domain/refusal.ts'

/**
 * Stores results and uploads by key: `<folder>/<128 bits in hex>.<extension>`, see `isObjectKey`. Methods reject with
 * Unavailable if the store is unavailable. For an invalid key, writes, deletes and presigning reject with RangeError,
 * and reads find no object.
 */
export interface ObjectStore {
  /**
   * Stores an object. Resolves once it is durable. Storing a key again replaces the object. With `ifAbsent`, it instead
   * resolves to false, and the existing object is complete and durable.
   */
  put(key: string, bytes: Uint8Array, mimeType: string, options?: StoreOptions): Promise<boolean>
  /** Starts a streamed upload. The object is invisible until it is stored, and leaves no trace if it is discarded. */
  receive(): Promise<IncomingObject>
  /**
   * An object's bytes, or a range of them, as a stream; undefined if there is no such object. An end past the last byte
   * is clamped; a start past it is a RangeError. A caller that stops early must destroy the stream.
   */
  get(key: string, range?: ByteRange): Promise<StoredObject | undefined>
  stat(key: string): Promise<ObjectFacts | undefined>
  /** Deletes an object. Succeeds if there is none. */
  delete(key: string): Promise<void>
  /** Deletes up to MAX_DELETED objects, which need not exist. */
  deleteAll(keys: readonly string[]): Promise<void>
  /**
   * Writes over the bytes of an object in their place, so that nobody can read them from the disk again; stores the
   * object if there is none. A bucket must not keep versions.
   */
  overwrite(key: string, bytes: Uint8Array): Promise<void>
  /** A URL to which its holder may PUT one object until it expires. Readers must check the content. */
  presignPut(grant: PutGrant): Promise<string>
  /**
   * Handles a PUT to a presigned URL, for stores that are not servers. Calls `admit` before the body is read, and again
   * before the object is stored; it may reject. Resolves to the grant. Rejects with PutRefused.
   */
  acceptPut?(put: IncomingPut, admit: (grant: PutGrant) => Promise<void>): Promise<PutGrant>
  /** Throws Unavailable while there is no space for new files. Then work that ends with a file should not begin. */
  ensureRoom(): void
  /** Rejects if the store does not respond. */
  check(): Promise<void>
  close(): Promise<void>
}

/** The most objects that one request to an S3 server can delete. */
export const MAX_DELETED = 1000

export interface StoreOptions {
  /** Keeps an existing object with the key. */
  ifAbsent?: boolean
}

export interface ObjectFacts {
  sizeBytes: number
  /** An HTTP entity tag with its quotes: differs when the bytes differ. */
  etag: string
  /** The declared type, if the store itself serves the object with this type. */
  contentType?: string | undefined
  /** In ms since 1970, rounded down to a second, if clients store objects directly. */
  storedAtMs?: number | undefined
}

/** `sizeBytes` is the size of the whole object, even for a range. */
export interface StoredObject extends ObjectFacts {
  body: Readable
}

/** The first and last byte, both inclusive, counted from 0. */
export interface ByteRange {
  start: number
  end: number
}

/** A streamed upload. After the body has ended or was destroyed, call either `store` or `discard`, once. */
export interface IncomingObject {
  readonly body: Writable
  /** Resolves once the object is durable under its key, or to false if the key had an object; see `put`. */
  store(key: string, mimeType: string, options?: StoreOptions): Promise<boolean>
  /** Removes the received bytes. Never rejects. */
  discard(): Promise<void>
}

export interface PutGrant {
  key: string
  mimeType: string
  maxSizeBytes: number
  /** Milliseconds since 1970. */
  expiresAtMs: number
  /** The purpose of the grant, for `admit`. */
  purpose: string
}

/** A PUT request to a presigned URL. */
export interface IncomingPut {
  key: string
  query: URLSearchParams
  mimeType: string | undefined
  /** The declared Content-Length, if any. */
  sizeBytes: number | undefined
  body: Readable
}

/** A PUT that the presigned URL does not allow. */
export class PutRefused extends Error {
  override name = 'PutRefused'
  readonly refusal: PutRefusal

  constructor(refusal: PutRefusal) {
    super(refusal.code)
    this.refusal = refusal
  }
}

/** The first part of a key. */
export type Folder = 'uploads' | 'outputs' | 'samples' | 'thumbnails' | 'vault'

/** Accepts a folder and a name that cannot escape it. */
export const isObjectKey = (text: string) => /^[a-z]{1,32}\/[0-9a-f]{32}\.[a-z0-9]{1,8}$/.test(text)
