import type { Family } from '../../../schemas/catalog.ts'
import type { CatalogEvent } from '../../../schemas/catalog-events.ts'
import { CATALOG_STREAM, type Position } from '../../../schemas/recorded.ts'
import { type CatalogCommand, type CatalogState, catalog, differences } from '../../domain/catalog/catalog.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { Mailbox } from '../../engine/streams/mailbox.ts'
import { type Cause, Streams } from '../../engine/streams/stream.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { OperatorError } from '../operator-error.ts'

/** Changes the catalog, whose whole history is one short stream. */
export class CatalogEditor {
  readonly #mailbox: Mailbox<CatalogCommand, CatalogState, CatalogEvent>
  readonly #clock: Clock

  constructor(log: EventLog, clock: Clock) {
    this.#clock = clock
    this.#mailbox = new Mailbox(CATALOG_STREAM, new Streams(catalog, log), clock)
  }

  state(): Promise<CatalogState> {
    return this.#mailbox.state()
  }

  /**
   * Resolves to the commands that changed something, in the order given, and to the position that views must pass to show
   * it. Throws OperatorError for a family that is not valid, and then changes nothing.
   */
  async apply(commands: CatalogCommand[], cause: Cause): Promise<{ applied: CatalogCommand[]; position: Position }> {
    rehearse(commands, await this.state(), new Date(this.#clock.nowMs()).toISOString())
    const outcomes = await Promise.all(commands.map(command => this.#mailbox.execute(command, cause)))
    const applied = commands.filter((_, index) => {
      const outcome = outcomes[index]
      if (!outcome || !('refuse' in outcome)) return true
      if (isDone(outcome.refuse)) return false
      throw OperatorError.of(outcome.refuse)
    })
    return { applied, position: this.#mailbox.position }
  }
}

/** Throws for what would be refused, before anything is done: a family that is not valid must not leave half of a file applied. */
const rehearse = (commands: CatalogCommand[], state: CatalogState, at: string) => {
  let after = state
  for (const command of commands) {
    const decision = catalog.decide(command, after)
    if ('refuse' in decision) {
      if (!isDone(decision.refuse)) throw OperatorError.of(decision.refuse)
    } else for (const event of decision.accept) after = catalog.evolve(after, { ...event, metadata: { at } })
  }
}

/** Another process may have done the same at the same time. */
const isDone = ({ code }: Refusal) => code === 'family_exists' || code === 'family_unchanged'

/**
 * Publishes what is shipped and differs from what is published, and resolves to where views must be to show it. A family that the
 * operator's own stand in the way of, by a name that both have, is left out and told of.
 */
export const publishShipped = async (
  log: EventLog,
  clock: Clock,
  shipped: Family[],
  leftOut: (error: OperatorError) => void = () => undefined,
): Promise<Position> => {
  const editor = new CatalogEditor(log, clock)
  const cause = { actor: { kind: 'service' } } as const
  try {
    return (await editor.apply(differences(await editor.state(), shipped), cause)).position
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
  }
  for (const command of differences(await editor.state(), shipped))
    await editor.apply([command], cause).catch(error => {
      if (!(error instanceof OperatorError)) throw error
      leftOut(error)
    })
  return log.head()
}
