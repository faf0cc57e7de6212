import type { RawEvent } from '../../schemas/recorded.ts'
import type { Period } from '../../src/audit/statement/period.ts'
import { type Fault, makeStatement, type Statement } from '../../src/audit/statement/statement.ts'
import { accountId } from './account-samples.ts'
import { logOf } from './log-of.ts'

export const year: Period = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z', zone: 'UTC' }

/** The statement of an account, or the fault that prevents it. */
export const statementOrFault = (
  events: RawEvent[],
  { account = accountId(), period = year }: { account?: string; period?: Period } = {},
): Promise<Statement | Fault | undefined> => makeStatement(logOf(events), { account, period })

/** The statement of an account that is not at fault. */
export const statementOf = async (...args: Parameters<typeof statementOrFault>): Promise<Statement> => {
  const made = await statementOrFault(...args)
  if (!made || 'fault' in made) throw new Error(made?.fault ?? 'no account')
  return made
}

/** The pieces of a text. */
export const joined = (pieces: Iterable<string>): string => [...pieces].join('')
