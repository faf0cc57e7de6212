import { type AccountLimits, type GrantKind, MAX_LIMIT } from '../../../../../schemas/account-events.ts'
import { isLine, normalized } from '../../../../../schemas/names.ts'
import { MAX_GRANT_MICROS, MAX_REASON_LENGTH, MAX_REFERENCE_LENGTH } from '../../../../../schemas/primitives.ts'
import { type ActionName, nameOf } from '../../../../console/operator/account-words.ts'
import {
  type Entered,
  type FormFault,
  kindsOf,
  LIMITS,
  type SecondLook,
  TESTER_CHOICES,
} from '../../../../console/operator/action-page.tsx'
import { credits } from '../../../../console/parts/text.ts'
import { fromMicros, toMicros } from '../../../../domain/money.ts'
import type { AccountChange, AccountSummary } from '../../../../services/accounts/accounts.ts'
import type { Answer } from '../../../../services/answer.ts'
import type { Operator } from '../../../../services/operator/operators.ts'
import type { Services } from '../../../../services/services.ts'
import type { Context } from '../../../context.ts'
import { formField } from '../../../middleware/pages.ts'

/** The field with the reference that was made with the form. */
export const FORM_REFERENCE = 'form_reference'

const FIELDS: Record<ActionName, readonly string[]> = {
  grant: ['credits', 'kind', 'reference', 'reason'],
  withdraw: ['credits', 'kind', 'reference', 'reason'],
  suspend: ['reason'],
  resume: ['reason'],
  limits: LIMITS.map(({ name }) => name),
  tester: ['tester'],
}

/** The fields of a form, as they were entered. */
export const enteredIn = (ctx: Context, action: ActionName): Entered =>
  Object.fromEntries(FIELDS[action].map(name => [name, normalized(formField(ctx, name).trim())]))

interface Asked {
  summary: AccountSummary
  entered: Entered
  formReference: string
  /** The account of the operator. */
  ownAccountId: string
}

/** What an action will do, and how to do it; or what is wrong with the form. */
export type Plan = { look: SecondLook; perform: Perform } | FormFault
type Perform = (accounts: Services['accounts'], operator: Operator) => Promise<Answer<AccountChange>>

export const planOf = (action: ActionName, asked: Asked): Plan => {
  switch (action) {
    case 'grant':
    case 'withdraw':
      return creditPlan(action, asked)
    case 'suspend':
    case 'resume':
      return suspensionPlan(action, asked)
    case 'limits':
      return limitsPlan(asked)
    case 'tester':
      return testerPlan(asked)
  }
}

const creditPlan = (action: 'grant' | 'withdraw', { summary, entered, formReference }: Asked): Plan => {
  const { account, balanceMicros } = summary
  const { reason = '', reference: given = '' } = entered
  const amountMicros = microsOf(entered['credits'] ?? '')
  if (amountMicros === undefined) return { fault: CREDITS_FAULT, at: 'credits' }
  const kind: GrantKind | undefined = kindsOf(action).find(each => each === entered['kind'])
  if (!kind) return { fault: 'The kind is unknown.', at: 'kind' }
  const reference = given || formReference
  const fault = faultOf('reason', reason, MAX_REASON_LENGTH) ?? faultOf('reference', reference, MAX_REFERENCE_LENGTH)
  if (fault) return fault
  const isGrant = action === 'grant'
  if (!isGrant && amountMicros > balanceMicros)
    return { fault: `The account has only ${credits(balanceMicros)} credits.`, at: 'credits' }
  const afterMicros = balanceMicros + (isGrant ? amountMicros : -amountMicros)
  const amount = `${credits(amountMicros)} ${amountMicros === 1_000_000 ? 'credit' : 'credits'}`
  return {
    look: {
      sentence: isGrant
        ? `You grant ${amount} to ${nameOf(account)}.`
        : `You withdraw ${amount} from ${nameOf(account)}.`,
      facts: [
        { name: 'Balance', text: `${credits(balanceMicros)} → ${credits(afterMicros)}` },
        { name: 'Kind', text: kind },
        { name: 'Reason', text: reason },
        { name: 'Reference', text: reference },
      ],
      button: `${isGrant ? 'Grant' : 'Withdraw'} ${amount}`,
      isDangerous: !isGrant,
    },
    perform: (accounts, operator) =>
      accounts[action](operator, account.accountId, { amountMicros, kind, reference, reason }),
  }
}

const CREDITS_FAULT = [
  `The credits must be a number from 0.000001 to ${fromMicros(MAX_GRANT_MICROS)},`,
  'with at most six decimals.',
].join(' ')

const microsOf = (text: string): number | undefined => {
  const amount = /^\d+(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
  // A larger number may have no exact amount of microcredits.
  const micros = amount <= fromMicros(MAX_GRANT_MICROS) ? toMicros(amount) : 0
  return micros >= 1 ? micros : undefined
}

/** Other characters could hide or break a line of a report. */
const faultOf = (name: string, text: string, maxLength: number): FormFault | undefined =>
  text === '' || [...text].length > maxLength || !isLine(text)
    ? { fault: `The ${name} must have 1 to ${maxLength} printable characters.`, at: name }
    : undefined

const suspensionPlan = (action: 'suspend' | 'resume', { summary, entered, ownAccountId }: Asked): Plan => {
  const { account } = summary
  const { reason = '' } = entered
  const fault = faultOf('reason', reason, MAX_REASON_LENGTH)
  if (fault) return fault
  // Nobody could resume it here.
  if (account.accountId === ownAccountId) return { fault: 'This is your own account.' }
  const isSuspending = action === 'suspend'
  return {
    look: {
      sentence: isSuspending ? `You suspend ${nameOf(account)}.` : `You resume ${nameOf(account)}.`,
      facts: [
        {
          name: 'From now on',
          text: isSuspending
            ? 'All requests of the owner and of the keys are refused. Accepted runs continue.'
            : 'The owner and the keys work again.',
        },
        { name: 'Reason', text: reason },
      ],
      button: isSuspending ? 'Suspend account' : 'Resume account',
      isDangerous: isSuspending,
    },
    perform: (accounts, operator) => accounts[action](operator, account.accountId, reason),
  }
}

const testerPlan = ({ summary: { account }, entered: { tester = '' } }: Asked): Plan => {
  if (tester !== 'yes' && tester !== 'no') return { fault: 'Choose whether the account sees models in test.' }
  return {
    look: {
      sentence:
        tester === 'yes' ? `You make ${nameOf(account)} a tester.` : `${nameOf(account)} is no tester any more.`,
      facts: [{ name: 'Models in test', text: TESTER_CHOICES[tester] }],
      button: 'Set test models',
    },
    perform: (accounts, operator) => accounts.setTester(operator, account.accountId, tester === 'yes'),
  }
}

const limitsPlan = ({ summary: { account, limits }, entered }: Asked): Plan => {
  const wanted: AccountLimits = {}
  for (const { name, label, of } of LIMITS) {
    const text = entered[name] ?? ''
    if (text === '') continue
    const limit = /^\d{1,10}$/.test(text) ? Number(text) : 0
    if (limit < 1 || limit > MAX_LIMIT)
      return { fault: `${label}: enter a whole number from 1 to ${MAX_LIMIT}.`, at: name }
    wanted[of] = limit
  }
  return {
    look: {
      sentence: `You set the limits of ${nameOf(account)}.`,
      facts: LIMITS.map(({ label, of }) => ({ name: label, text: `${textOf(limits[of])} → ${textOf(wanted[of])}` })),
      button: 'Set limits',
    },
    perform: (accounts, operator) => accounts.setLimits(operator, account.accountId, { ...BY_DEFAULT, ...wanted }),
  }
}

/** A limit that is left out would stay as it is. */
const BY_DEFAULT = Object.fromEntries(LIMITS.map(({ of }) => [of, 'default' as const]))

const textOf = (limit: number | undefined): string => (limit === undefined ? 'as for all' : String(limit))
