import type { Family } from '../../../schemas/catalog.ts'
import type { CatalogEvent } from '../../../schemas/catalog-events.ts'
import { CATALOG_STREAM } from '../../../schemas/events.ts'
import type { Position } from '../../../schemas/recorded.ts'
import { type CatalogCommand, type CatalogState, catalog, commandsToShip } from '../../domain/catalog/catalog.ts'
import { type Refusal, refuse } from '../../domain/refusal.ts'
import type { Mailbox } from '../../engine/streams/mailbox.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import { type Caller, causeOf } from '../caller.ts'
import { mailboxOf, type StreamDependencies } from '../stream-mailbox.ts'
import { findSchemaFault } from './schema-fault.ts'

/**
 * The maximum age of the catalog for clients. Reading the end of its stream ten times a second costs almost nothing.
 */
const MAX_AGE_MS = 100

/** Reads and changes the catalog, which is one short stream. */
export class PublishedCatalog {
  readonly #mailbox: Mailbox<CatalogCommand, CatalogState, CatalogEvent, Refusal>
  readonly #clock: Clock

  constructor(dependencies: StreamDependencies) {
    this.#clock = dependencies.clock
    this.#mailbox = mailboxOf(CATALOG_STREAM, catalog, dependencies)
  }

  state(): Promise<CatalogState> {
    return this.#mailbox.currentState()
  }

  /** The catalog of a moment ago or, while the log is unavailable or slow, the last known catalog. */
  recentState(): Promise<CatalogState> {
    return this.#mailbox.stateSince(this.#clock.monotonicMs() - MAX_AGE_MS)
  }

  /**
   * Executes the commands, or none of them if a family or the price list is invalid. Returns the commands that changed
   * something, in order, and the position from which the views show them.
   */
  async apply<Command extends CatalogCommand>(
    caller: Caller,
    commands: Command[],
  ): Promise<Answer<{ applied: Command[]; position: Position }>> {
    const now = new Date(this.#clock.nowMs()).toISOString()
    const refused = refuseUnchecked(commands) ?? rehearse(commands, await this.state(), now)
    if (refused) return refused
    const outcomes = await Promise.all(commands.map(command => this.#mailbox.execute(command, causeOf(caller))))
    const applied: Command[] = []
    for (const [index, command] of commands.entries()) {
      const outcome = outcomes[index]
      if (!outcome || !('refuse' in outcome)) applied.push(command)
      else if (!isDone(outcome.refuse)) return outcome
    }
    return answer({ applied, position: this.#mailbox.position })
  }
}

/**
 * Refuses families whose inputs cannot be checked. The domain cannot compile schemas. The shipped families are not
 * compiled, which would slow the first start: tests compile them.
 */
const refuseUnchecked = (commands: CatalogCommand[]): Refused | undefined => {
  for (const command of commands) {
    const fault = 'family' in command && command.byHand ? findSchemaFault(command.family) : undefined
    if (fault) return refuse('family_invalid', { fault })
  }
  return undefined
}

/** Decides all commands without executing them, so that a file with an invalid family changes nothing. */
const rehearse = (commands: CatalogCommand[], state: CatalogState, at: string): Refused | undefined => {
  let after = state
  for (const command of commands) {
    const decision = catalog.decide(command, after, Date.parse(at))
    if (!('refuse' in decision))
      for (const event of decision.accept) after = catalog.evolve(after, { ...event, revision: 0, metadata: { at } })
    else if (!isDone(decision.refuse)) return decision
  }
  return undefined
}

/** Another process may have made the same change. */
const isDone = ({ code }: Refusal) => ['family_exists', 'family_unchanged', 'packs_unchanged'].includes(code)

/**
 * Publishes shipped families that differ from the published ones. Resolves to the position from which the views show
 * them. Skips and reports a family whose name an operator's family uses.
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
