import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { Damaged } from '../../ports/faults.ts'
import { isDamage } from '../lmdb/environment.ts'
import { lmdbFile } from '../lmdb/file.ts'

/**
 * An event in the log. Its key is the position. The stream and the revision come first, so they can be read without
 * parsing.
 */
export type Entry = [stream: string, revision: number, id: string, type: string, data: unknown, metadata: unknown]

/** The event of an entry. Throws Damaged. */
export const toRawEvent = (folder: string, position: Position, text: string): RawEvent => {
  const entry = parse(text)
  if (!isEntry(entry) || !Number.isSafeInteger(position)) throw unreadable(folder, position)
  const [stream, revision, id, type, data, metadata] = entry
  return { id, stream, revision, position, type, data, metadata }
}

export const unreadable = (folder: string, position: Position): Damaged =>
  damaged(
    folder,
    `${lmdbFile(folder)}: the entry with the key ${position}, which is position ${position}, cannot be read`,
  )

/** The error for a damaged log. */
export const damaged = (folder: string, how: string): Damaged =>
  new Damaged(`the event log in ${folder} is damaged (${how}); restore it from a backup`)

/** Runs a read. Throws Damaged if the library finds the file damaged. */
export const reading = <Result>(folder: string, read: () => Result): Result => {
  try {
    return read()
  } catch (error) {
    throw isDamage(error) ? damaged(folder, `${lmdbFile(folder)}: ${(error as Error).message}`) : error
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The codec checks the other fields. */
const isEntry = (entry: unknown): entry is Entry => {
  if (!Array.isArray(entry)) return false
  const [stream, revision, id, type] = entry
  return [stream, id, type].every(part => typeof part === 'string') && Number.isSafeInteger(revision)
}
