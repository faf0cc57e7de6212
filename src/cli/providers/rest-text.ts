import type { ReportedRest } from '../../../schemas/provider-report.ts'

interface ShownRest extends Pick<ReportedRest, 'kind' | 'until' | 'account'> {
  model: string | null
}

/** Why an account or a model gets no jobs now, and what the operator can do. */
export const restText = (provider: string, { account, model, kind, until }: ShownRest, keyVariable: string): string => {
  const what = model === null ? `account ${account}` : `${model} with account ${account}`
  return `${provider}: the circuit breaker for ${what} is open until ${until}: ${REASONS[kind]}`.replace(
    'KEY',
    keyVariable,
  )
}

const REASONS: Record<ReportedRest['kind'], string> = {
  unauthorized: 'the provider refuses the key; check KEY.',
  out_of_quota: 'the account has no credit or quota left; see its billing page.',
  rate_limited: 'the provider limits the rate of requests.',
  overloaded: 'calls to the provider fail repeatedly.',
  unreachable: 'the provider does not answer.',
  gone: 'the provider does not offer this model; check its list of models, or disable the binding.',
}
