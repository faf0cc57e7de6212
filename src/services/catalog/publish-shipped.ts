import type { Family } from '../../../schemas/catalog.ts'
import type { Position } from '../../../schemas/recorded.ts'
import { commandsToShip } from '../../domain/catalog/catalog.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { PublishedCatalog } from './published-catalog.ts'

/**
 * Publishes the shipped families that differ from the published ones. Resolves to the position that shows them in the
 * views. A family whose name an operator's family uses is skipped and reported.
 */
export const publishShipped = async (
  log: EventLog,
  published: PublishedCatalog,
  shipped: Family[],
  onSkipped: (refusal: Refusal) => void = () => undefined,
): Promise<Position> => {
  const caller = { kind: 'service' } as const
  const outcome = await published.apply(caller, commandsToShip(await published.state(), shipped))
  if ('value' in outcome) return outcome.value.position
  for (const command of commandsToShip(await published.state(), shipped)) {
    const each = await published.apply(caller, [command])
    if ('refuse' in each) onSkipped(each.refuse)
  }
  return log.head()
}
