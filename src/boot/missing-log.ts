import { existsSync, readdirSync } from 'node:fs'
import { Damaged } from '../ports/faults.ts'
import type { Config } from './config.ts'

/** What is in the folder of an embedded log or view store. */
const STORE_FILE = 'data.mdb'

/** What is in a folder of objects before any object. */
const NO_OBJECTS = ['arriving', 'lost+found']

/**
 * Throws Damaged if the folder of the embedded log holds none, but views or objects show that there was one: an empty
 * log would take its place.
 */
export const expectLog = ({ eventStore, viewStore, objectStore }: Config): void => {
  if (eventStore.kind !== 'lmdb' || namesIn(eventStore.folder).includes(STORE_FILE)) return
  const hasViews = viewStore.kind === 'lmdb' && namesIn(viewStore.folder).includes(STORE_FILE)
  const hasObjects = objectStore.kind === 'disk' && namesIn(objectStore.folder).some(name => !NO_OBJECTS.includes(name))
  const found = [...(hasViews ? [viewStore.folder] : []), ...(hasObjects ? [objectStore.folder] : [])]
  if (found.length === 0) return
  throw new Damaged(
    [
      `${eventStore.folder} holds no event log, but the data in ${found.join(' and ')} comes from an event log.`,
      'Restore the log from a backup, or correct DATA_DIR or EVENT_STORE_URL.',
      'To begin an empty log, which knows none of the accounts before, start the service once with --new-log.',
    ].join(' '),
  )
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])
