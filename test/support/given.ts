import assert from 'node:assert/strict'
import type { Decider, PastEvent } from '../../src/domain/decider.ts'
import type { Decided, Refusal, RefusalCode } from '../../src/domain/refusal.ts'

/** The default time of past events and of decisions. */
export const THEN_MS = Date.parse('2026-01-01T00:00:00.000Z')

/** An event at a specific time. */
export const at = <Event>(ms: number, event: Event): PastEvent<Event> => ({
  ...event,
  revision: 0,
  metadata: { at: new Date(ms).toISOString() },
})

/** An event that a key caused at a specific time. */
export const by = <Event>(keyId: string, ms: number, event: Event): PastEvent<Event> => {
  const past = at(ms, event)
  return { ...past, metadata: { ...past.metadata, actor: { kind: 'key', keyId } } }
}

/** A decider with a history. The assertions throw on failure. */
export const given = <Command, State, Event extends object>(
  decider: Decider<Command, State, Event, Refusal>,
  ...history: (Event | PastEvent<Event>)[]
) => {
  const happen = (state: State, event: Event | PastEvent<Event>) =>
    decider.evolve(state, 'metadata' in event ? event : at(THEN_MS, event))
  const state = history.reduce(happen, decider.initial)
  return {
    state,
    when: (command: Command, atMs = THEN_MS) => new Consequence(decider.decide(command, state, atMs)),
  }
}

class Consequence<Event> {
  readonly decision: Decided<Event>

  constructor(decision: Decided<Event>) {
    this.decision = decision
  }

  // biome-ignore lint/suspicious/noThenProperty: tests read given, when, then, and never await the result.
  then(...events: Event[]) {
    assert.deepEqual(this.decision, { accept: events })
  }

  repeats(id: string) {
    assert.deepEqual(this.decision, { accept: [], repeatOf: id })
  }

  refused(code: RefusalCode, details: object = {}) {
    assert.deepEqual(this.decision, { refuse: { code, ...details } })
  }

  /** Compares only the code. */
  get refusal(): Refusal['code'] | undefined {
    return 'refuse' in this.decision ? this.decision.refuse.code : undefined
  }
}
