/** The result of a command: the events to append, the result of an earlier equal command, or a refusal. */
export type Decision<Event, Refusal> = Acceptance<Event> | { refuse: Refusal }

/** `repeatOf` is the ID of the result of an earlier, equal command; in this case there is nothing to append. */
export interface Acceptance<Event> {
  accept: Event[]
  repeatOf?: string
}

/** An event as `evolve` sees it: with its place in the stream, its time, and the caller that caused it. */
export type PastEvent<Event> = Event & {
  revision: number
  metadata: { at: string; clock?: string; actor?: object; hash?: string }
}

/** Thrown by `evolve` for an event that contradicts the state before it, which no decision can have produced. */
export class Contradiction extends Error {
  override name = 'Contradiction'
}

/**
 * A consistency boundary as two pure functions over its history. `evolve` accepts every history that `decide` produces.
 * `atMs` is the time that the events will record, in ms since 1970.
 */
export interface Decider<Command, State, Event, Refusal> {
  initial: State
  decide(command: Command, state: State, atMs: number): Decision<Event, Refusal>
  evolve(state: State, event: PastEvent<Event>): State
}

export const accept = <Event>(events: Event[]): Acceptance<Event> => ({ accept: events })

export const repeat = (id: string): Acceptance<never> => ({ accept: [], repeatOf: id })

/** For the default case of a switch that the compiler knows to be exhaustive. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
