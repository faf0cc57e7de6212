import { projections as all } from '../../projections/all.ts'
import { authenticViews } from '../engine/views/authentic-views.ts'
import { ProjectionSet } from '../engine/views/project.ts'
import type { OpenScratch } from '../engine/views/rebuild.ts'
import type { RowAddress, StoredViews } from '../ports/view-store.ts'
import { deriveKey } from '../services/derive-key.ts'
import { openScratchViews } from './stores.ts'

/**
 * The projections and the MACs of rows, which must be the same in every thread that reads or writes views. Views are
 * rebuilt in the data folder, because the system's folder for temporary files may be in memory.
 */
export const openProjections = (
  { masterSecret, dataDir }: { masterSecret: string; dataDir: string },
  openEmpty = () => openScratchViews(dataDir),
) => {
  const projections = new ProjectionSet(all)
  const key = deriveKey(masterSecret, 'rows')
  const authenticate = (store: StoredViews, onForged: (address: RowAddress) => void) =>
    authenticViews({ store, projections, key, onForged })
  const openScratch: OpenScratch = async () => {
    const { scratch, discard } = await openEmpty()
    return { scratch: authenticate(scratch, () => undefined), discard }
  }
  return { projections, authenticate, openScratch }
}
