import type { RunId } from '../../schemas/primitives.ts'
import type { Refusal, RefusalCode, Refusals } from './refusal.ts'

/** What a command comes to: the events to append, the outcome it already had, or a refusal. */
export type Decision<Event> = Accepted<Event> | { refuse: Refusal }

/** `repeatOf` names the run that an earlier, equal request got; then there is nothing to append. */
export interface Accepted<Event> {
  accept: Event[]
  repeatOf?: RunId
}

/** An event as `evolve` sees it: with the time at which it happened. */
export type Happened<Event> = Event & { metadata: { at: string } }

/** A consistency boundary as two pure functions over its history. `evolve` never refuses history. */
export interface Decider<Command, State, Event> {
  initial: State
  decide(command: Command, state: State): Decision<Event>
  evolve(state: State, event: Happened<Event>): State
}

export const accept = <Event>(events: Event[]): Decision<Event> => ({ accept: events })

export const repeat = (runId: RunId): Decision<never> => ({ accept: [], repeatOf: runId })

export const refuse = <Code extends RefusalCode>(
  code: Code,
  ...details: object extends Refusals[Code] ? [] : [Refusals[Code]]
): { refuse: Refusal } => ({ refuse: { code, ...details[0] } as Refusal })

/** Where the compiler knows that no case is left. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
