import { NewKey } from '../../../../schemas/api/key.ts'
import type { KeyFaults, KeyFields } from '../../../console/keys/key-form.tsx'
import type { ApiError } from '../../../transports/api-error.ts'
import { readerOf } from '../../../transports/validate.ts'

const readNewKey = readerOf(NewKey, 'form')

/** The fields of the form for a new key, as they were sent. */
export const keyFields = (form: URLSearchParams): KeyFields => {
  const text = (name: string) => (form.get(name) ?? '').trim()
  return {
    name: text('name'),
    scope: text('scope') || 'full',
    mode: text('mode') === 'test' ? 'test' : 'live',
    budget: text('budget'),
    period: text('period') || 'month',
    models: form.getAll('models'),
    addresses: text('addresses'),
    expires: text('expires'),
  }
}

/** The same as the body of a request for a new key. Throws ApiError with the places of its faults. */
export const keyRequest = ({ name, scope, mode, budget, period, models, addresses, expires }: KeyFields): NewKey =>
  readNewKey({
    ...{ name, scope },
    ...(mode === 'test' && { livemode: false }),
    ...(budget !== '' && { budget: { credits: creditsOf(budget), period } }),
    ...(models.length > 0 && { models }),
    ...(addresses !== '' && { addresses: addresses.split(/[\s,;]+/) }),
    // The key works on this day too.
    ...(expires !== '' && { expires_at: `${expires}T23:59:59Z` }),
  })

/** `Number` would also read `0x10` and `1e3`. What is no decimal number stays text, which is refused at its field. */
const creditsOf = (text: string): unknown => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text)

/** The faults of a form, at the fields that an error names, or else above all of them. */
export const keyFaults = ({ message, details: { errors = [] } }: ApiError): KeyFaults => {
  const faults: KeyFaults = {}
  for (const { path, message: fault } of errors) {
    const [, place = ''] = path.split('/')
    const field = FIELDS[place]
    if (field) faults[field] ??= `${FIELD_NAMES[field]} ${fault}.`
  }
  return Object.keys(faults).length > 0 ? faults : { form: message }
}

const FIELDS: Record<string, keyof typeof FIELD_NAMES> = {
  ...{ name: 'name', scope: 'scope', budget: 'budget', models: 'models', addresses: 'addresses' },
  expires_at: 'expires',
}

const FIELD_NAMES = {
  name: 'The name',
  scope: 'The permission',
  budget: 'The budget',
  models: 'A model',
  addresses: 'An address',
  expires: 'The last day',
} as const
