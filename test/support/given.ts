import assert from 'node:assert/strict'
import type { RunId } from '../../schemas/primitives.ts'
import type { Decider, Decision, Happened } from '../../src/domain/decider.ts'
import type { Refusal, RefusalCode } from '../../src/domain/refusal.ts'

/** When history happens unless it says otherwise. */
export const THEN_MS = Date.parse('2026-01-01T00:00:00.000Z')

/** An event at a time of its own. */
export const at = <Event>(ms: number, event: Event): Happened<Event> => ({
  ...event,
  metadata: { at: new Date(ms).toISOString() },
})

/** A decider with a history. What follows is asserted, and throws where it does not hold. */
export const given = <Command, State, Event extends object>(
  decider: Decider<Command, State, Event>,
  ...history: (Event | Happened<Event>)[]
) => {
  const happen = (state: State, event: Event | Happened<Event>) =>
    decider.evolve(state, 'metadata' in event ? event : at(THEN_MS, event))
  const state = history.reduce(happen, decider.initial)
  return {
    state,
    when: (command: Command) => new Consequence(decider.decide(command, state)),
  }
}

class Consequence<Event> {
  readonly decision: Decision<Event>

  constructor(decision: Decision<Event>) {
    this.decision = decision
  }

  // biome-ignore lint/suspicious/noThenProperty: given, when, then is how a test reads, and nobody awaits a consequence.
  then(...events: Event[]) {
    assert.deepEqual(this.decision, { accept: events })
  }

  repeats(runId: RunId) {
    assert.deepEqual(this.decision, { accept: [], repeatOf: runId })
  }

  refused(code: RefusalCode, details: object = {}) {
    assert.deepEqual(this.decision, { refuse: { code, ...details } })
  }

  /** Only the code, for tests in which it alone matters. */
  get refusal(): Refusal['code'] | undefined {
    return 'refuse' in this.decision ? this.decision.refuse.code : undefined
  }
}
