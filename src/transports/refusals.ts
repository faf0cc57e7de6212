import type { Refusal, RefusalCode, Refusals } from '../domain/refusal.ts'
import type { Answer } from '../services/answer.ts'
import { ApiError } from './api-error.ts'
import { accounts } from './refusals/accounts.ts'
import { audit } from './refusals/audit.ts'
import { budgets } from './refusals/budgets.ts'
import { catalog } from './refusals/catalog.ts'
import { files } from './refusals/files.ts'
import { keys } from './refusals/keys.ts'
import { ledger } from './refusals/ledger.ts'
import { providers } from './refusals/providers.ts'
import { purchases } from './refusals/purchases.ts'
import type { RefusalEntry, RefusalTable } from './refusals/refusal-table.ts'
import { runs } from './refusals/runs.ts'
import { sale } from './refusals/sale.ts'
import { signIn } from './refusals/sign-in.ts'
import { uploads } from './refusals/uploads.ts'
import { webhooks } from './refusals/webhooks.ts'

/**
 * The answer of the API to every refusal. Some messages name a route or a header of HTTP: other transports override
 * these. Some of the refusals cannot be caused by a client today.
 */
const refusals: RefusalTable<Refusals> = {
  ...{
    ...accounts,
    ...signIn,
    ...keys,
    ...budgets,
    ...ledger,
    ...purchases,
    ...audit,
    ...catalog,
    ...sale,
    ...providers,
  },
  ...{ ...runs, ...webhooks, ...uploads, ...files },
}

/** The messages that are a transport's own. */
export type RefusalMessages = { [Code in RefusalCode]?: (facts: Refusals[Code]) => string }

// In these functions, the compiler does not see that the code selects the entry for the facts.

export const messageOf = (refusal: Refusal, own: RefusalMessages = {}): string =>
  ((own[refusal.code] ?? refusals[refusal.code].message) as (facts: Refusal) => string)(refusal)

/** The error of the API for a refusal. */
export const errorOf = (refusal: Refusal, own?: RefusalMessages): ApiError => {
  const { api, details } = refusals[refusal.code] as RefusalEntry<Refusal>
  const retryAfterSeconds = 'retryAfterMs' in refusal ? Math.ceil(refusal.retryAfterMs / 1000) : undefined
  return new ApiError(api, messageOf(refusal, own), details?.(refusal), { retryAfterSeconds, part: 'provider' })
}

/** The value of an answer. Throws ApiError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>, own?: RefusalMessages): Value => {
  if ('refuse' in answer) throw errorOf(answer.refuse, own)
  return answer.value
}
