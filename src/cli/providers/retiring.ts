import type { Binding } from '../../../schemas/binding.ts'
import { nameOf } from '../../domain/routing/choices.ts'

/** How long before its end a binding is reported, so that operators can try a successor. */
const WARN_MS = 60 * 24 * 60 * 60 * 1000

export interface Retiring {
  endpoint: string
  binding: string
  retires_at: string
  replaced_by: string | null
}

/** Whether the provider has turned off the model of a binding. Such a binding gets no jobs. */
export const isRetired = ({ retiresAt }: Pick<Binding, 'retiresAt'>, nowMs: number): boolean =>
  retiresAt !== undefined && Date.parse(retiresAt) <= nowMs

/** The bindings whose models were turned off, or will be within 60 days, earliest first. */
export const retiringOf = (bindings: readonly Binding[], nowMs: number): Retiring[] =>
  bindings
    .flatMap(binding => {
      const { endpoint, retiresAt, replacedBy = null } = binding
      if (retiresAt === undefined || Date.parse(retiresAt) > nowMs + WARN_MS) return []
      return [{ endpoint, binding: nameOf(binding), retires_at: retiresAt, replaced_by: replacedBy }]
    })
    .sort((one, other) => (one.retires_at < other.retires_at ? -1 : 1))

export const retiringText = ({ endpoint, binding, retires_at, replaced_by }: Retiring, nowMs: number): string => {
  const verb = isRetired({ retiresAt: retires_at }, nowMs) ? 'retired' : 'retires'
  return `${binding} of ${endpoint} ${verb} on ${retires_at}; replacement: ${replaced_by ?? 'none'}.`
}
