import type { AccountEvent } from '../../schemas/account-events.ts'
import type { RecordedEvent } from '../../schemas/events.ts'
import { AccountBook } from '../../src/audit/books.ts'
import { account } from '../../src/domain/account/account.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { DAY_MS } from '../../src/domain/days.ts'
import { fromMicros } from '../../src/domain/money.ts'
import { openAccount, queueRun, startRun } from './account-samples.ts'
import { at, THEN_MS } from './given.ts'

/** An account that decides commands, and the books of the audit beside it. */
export class World {
  state = account.initial
  readonly book = new AccountBook()
  days = 0
  readonly events: AccountEvent[] = []
  /** The same as they are recorded. */
  readonly appends: RecordedEvent[][] = []

  constructor(...commands: AccountCommand[]) {
    this.do(openAccount({ welcome: 0 }))
    for (const command of commands) this.do(command)
  }

  /** The events of a command, or the code of its refusal. */
  do(command: AccountCommand): string[] {
    const atMs = Math.round(THEN_MS + this.days * DAY_MS)
    const decided = account.decide(command, this.state, atMs)
    if ('refuse' in decided) return [decided.refuse.code]
    const metadata = { at: new Date(atMs).toISOString(), actor: {} }
    const place = { id: '', stream: 'account-x', revision: 0, position: 0 }
    const append = decided.accept.map(event => ({ ...event, ...place, metadata }) as unknown as RecordedEvent)
    for (const event of append) this.book.take(event)
    for (const event of decided.accept) this.state = account.evolve(this.state, at(atMs, event))
    this.events.push(...decided.accept)
    this.appends.push(append)
    return decided.accept.map(({ type }) => type)
  }

  run(run: number, credits: number) {
    return [this.do(queueRun({ run, credits })), this.do(startRun(run))].flat()
  }

  get credits() {
    return fromMicros(this.state.balanceMicros)
  }

  get owed() {
    return fromMicros(this.state.owedMicros)
  }
}
