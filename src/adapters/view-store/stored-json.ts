import { BEFORE_FIRST } from '../../ports/event-log.ts'
import type { Checkpoint } from '../../ports/view-store.ts'

/** The checkpoint in a text; undefined without one. */
export const toCheckpoint = (json: string | null | undefined): Checkpoint | undefined => {
  const found = parseJson<Checkpoint>(json)
  const isReadable = Number.isSafeInteger(found?.position) && found?.versions !== null
  return found === undefined || isReadable ? found : UNREADABLE
}

/** A checkpoint that no projector wrote counts as one of another log, so the views are rebuilt. */
const UNREADABLE: Checkpoint = { position: BEFORE_FIRST, eventId: '', origin: '', versions: {} }

/** Text that no service wrote becomes null, which callers treat like any other forged value. */
export const parseJson = <Value>(json: string | null | undefined): Value | undefined => {
  if (typeof json !== 'string') return undefined
  try {
    return JSON.parse(json)
  } catch {
    return null as Value
  }
}
