import { SANDBOX } from '../../schemas/primitives.ts'
import type { Upcast } from '../../schemas/recorded.ts'

/** In ledger format 1 a grant had only a reason, which was `welcome` in the append that opened the account. */
const grantOfFormat1: Upcast = ({ type, data, id, revision }) => {
  const old = data as { kind?: string; reason?: string } | null
  if (type !== 'CreditsGranted' || !old || old.kind !== undefined) return undefined
  const kind = revision === 1 && old.reason === 'welcome' ? 'welcome' : 'courtesy'
  return { type, data: { ...old, kind, reference: id } }
}

/** Only failed runs were refunded. */
const refundOfFormat1: Upcast = ({ type, data }) => {
  const old = data as { reason?: string } | null
  if (type !== 'CreditsRefunded' || !old || old.reason !== undefined) return undefined
  return { type, data: { ...old, reason: 'the run failed' } }
}

/** The exchange rate was on each surcharge instead of the receipt. */
const debitOfFormat1: Upcast = ({ type, data }) => {
  if (type !== 'CreditsDebited') return undefined
  const { receipt, ...debit } = (data ?? {}) as { receipt?: { lines?: { usdPerCreditMicros?: number }[] } }
  const usdPerCreditMicros = receipt?.lines?.find(line => line.usdPerCreditMicros !== undefined)?.usdPerCreditMicros
  if (!receipt?.lines || usdPerCreditMicros === undefined) return undefined
  const lines = receipt.lines.map(({ usdPerCreditMicros: _, ...line }) => line)
  return { type, data: { ...debit, receipt: { ...receipt, lines, usdPerCreditMicros } } }
}

/** Before there were providers, the sandbox did all runs, and events named it elsewhere. */
const SANDBOX_UPSTREAM = { provider: SANDBOX, model: SANDBOX }

const runBeforeProviders: Upcast = ({ type, data }) => {
  const old = data as { provider?: string; upstream?: object } | null
  if (type === 'RunQueued' && old?.provider !== undefined) {
    const { provider: _, ...run } = old
    return { type, data: run }
  }
  if ((type === 'RunStarted' || type === 'RunSubmitted') && old && old.upstream === undefined)
    return { type, data: { ...old, upstream: SANDBOX_UPSTREAM } }
  return undefined
}

const catalogBeforeProviders: Upcast = ({ type, data }) => {
  if (type !== 'FamilyPublished' && type !== 'FamilyRevised') return undefined
  const { family } = (data ?? {}) as { family?: { endpoints?: { provider?: string }[] } }
  if (!family?.endpoints?.some(({ provider }) => provider !== undefined)) return undefined
  const endpoints = family.endpoints.map(({ provider: _, ...endpoint }) => endpoint)
  return { type, data: { ...(data as object), family: { ...family, endpoints } } }
}

/** The upcasts for events of earlier versions, oldest shapes first. */
export const upcasts: Upcast[] = [
  grantOfFormat1,
  refundOfFormat1,
  debitOfFormat1,
  runBeforeProviders,
  catalogBeforeProviders,
]
