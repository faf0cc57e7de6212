import type { ProviderFault } from '../../ports/provider.ts'
import type { FailureForm, UpstreamCall } from './upstream-call.ts'
import type { VendorAccount } from './vendor.ts'

interface Checked extends VendorAccount {
  /** The prefix of the provider's environment variables, such as `OPENAI`. */
  variable: string
}

/** The reason why a check failed, and what the operator can do. */
export const checkFailure = (
  call: UpstreamCall,
  error: unknown,
  form: FailureForm,
  { key, variable }: Checked,
): Error => {
  const { provider } = form
  const words = call.refusalText(form, [key])
  const advice = {
    unauthorized: `${provider} refuses the key; check ${variable}_API_KEY`,
    out_of_quota: `the account at ${provider} has no credit or quota left; look at its billing page`,
    rate_limited: `${provider} accepts no more requests at the moment; try again later`,
    overloaded: `${provider} is overloaded or down; try again later`,
    unreachable: `${provider} cannot be reached; check the network and ${variable}_BASE_URL`,
    gone: `${provider} finds nothing at this address; check ${variable}_BASE_URL`,
    unknown: `${provider} gives unexpected responses; try again, and check ${variable}_BASE_URL`,
  }[faultOf(call, error, form, key)]
  return new Error(words ? `${advice} (${words})` : advice)
}

const faultOf = (
  call: UpstreamCall,
  error: unknown,
  form: FailureForm,
  key: string,
): ProviderFault['kind'] | 'unknown' => {
  try {
    return call.failure(error, form, [key]).fault?.kind ?? 'unknown'
  } catch {
    return 'unknown'
  }
}
