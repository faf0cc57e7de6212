import type { AuditedEvent } from './rule.ts'

/** The facts of a debit that its refunds repeat, as one text. */
export const factsOfDebit = ({ data, metadata }: AuditedEvent): string => {
  const { model, endpoint } = data['receipt'] as { model: string; endpoint: string }
  const { keyId } = metadata.actor as { keyId?: string }
  return textOf({ model, endpoint, keyId, label: data['label'] as string | undefined })
}

/**
 * Compares a refund with the facts of its debit, and with the code of the failure that calls for it, if one does.
 * Returns what is wrong, or undefined. Refunds from before they repeated their debits have neither.
 */
export const refundFactsFault = (
  refund: AuditedEvent['data'],
  debitText: string,
  failure: string | undefined,
): string | undefined => {
  const { debit, error } = refund as { debit?: Facts; error?: string }
  if (debit && textOf(debit) !== debitText) return `it repeats the debit ${textOf(debit)}, which was ${debitText}`
  if (error !== (debit && failure)) return `it repeats the error ${error ?? 'none'}, which was ${failure ?? 'none'}`
  return undefined
}

/** Keeps equal texts once. A log has far more debits than kinds of them. */
export class SharedTexts {
  readonly #texts = new Map<string, string>()

  of(text: string): string {
    const known = this.#texts.get(text)
    if (known === undefined) this.#texts.set(text, text)
    return known ?? text
  }
}

interface Facts {
  model: string
  endpoint: string
  keyId?: string | undefined
  label?: string | undefined
}

const textOf = ({ model, endpoint, keyId, label }: Facts): string => JSON.stringify({ model, endpoint, keyId, label })
