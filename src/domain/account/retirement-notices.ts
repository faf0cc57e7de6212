import type { AccountEvent } from '../../../schemas/account-events.ts'
import { RETIREMENT_NOTICE_DAYS } from '../../../schemas/notice-events.ts'
import { DAY_MS } from '../days.ts'
import { accept } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { Retirement } from './commands.ts'
import { noticeRaised } from './notices.ts'
import type { AccountState } from './state.ts'

/** Raises the notice that a model retires: once at each step, and only for an account with notices. */
export const raiseRetirement = (
  { retirement }: { retirement: Retirement },
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const { email, url } = state.notices
  const days = stepOf(retirement, atMs)
  const told = state.retirementsTold.get(nameOf(retirement))
  if ((!email && url === undefined) || days === undefined || (told !== undefined && told <= days))
    return refuse('notice_not_due')
  return accept([noticeRaised(state, { kind: 'model_retiring', ...retirement, days })])
}

/** The last step of each retirement that had a notice, without models that have retired by then. */
export const markRetirementNotice = (
  { retirementsTold }: AccountState,
  { days, ...retirement }: Retirement & { days: number },
  atMs: number,
): AccountState['retirementsTold'] =>
  retirementsTold.filter((_, name) => timeIn(name) > atMs).set(nameOf(retirement), days)

/** The step that a retirement has reached, in days before it; undefined before the first and after the end. */
export const stepOf = ({ retiresAt }: Pick<Retirement, 'retiresAt'>, atMs: number): number | undefined => {
  const leftMs = Date.parse(retiresAt) - atMs
  return leftMs > 0 ? RETIREMENT_NOTICE_DAYS.find(days => leftMs <= days * DAY_MS) : undefined
}

const nameOf = ({ model, retiresAt }: Pick<Retirement, 'model' | 'retiresAt'>) => `${model} ${retiresAt}`

const timeIn = (name: string) => Date.parse(name.slice(name.indexOf(' ') + 1))
