import type { ReportedRest } from '../../../schemas/provider-report.ts'

interface ShownRest extends Pick<ReportedRest, 'kind' | 'until' | 'account'> {
  model: string | null
}

/** Why an account or a model gets no jobs now, and what the operator can do. */
export const restText = (provider: string, { account, model, kind, until }: ShownRest, keyVariable: string): string => {
  const what = model === null ? `account ${account}` : `${model} with account ${account}`
  return `${provider}: ${what} rests until ${until}, since ${REASONS[kind]}`.replace('KEY', keyVariable)
}

const REASONS: Record<ReportedRest['kind'], string> = {
  unauthorized: 'its key is refused; check KEY.',
  out_of_quota: 'it has no credit or quota left; look at its billing page.',
  rate_limited: 'the provider asks for a pause.',
  overloaded: 'the provider fails again and again.',
  unreachable: 'the provider does not answer.',
  gone: 'the provider does not offer it to the account; check its list of models, or disable the binding.',
}
