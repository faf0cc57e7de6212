import { isDeepStrictEqual } from 'node:util'
import type { RunRequest } from '../../../../schemas/api/run.ts'
import type { ParametersSchema } from '../../../../schemas/catalog.ts'
import { placeFault } from '../../../transports/moment.ts'
import type { ParameterNames } from './errors.ts'

/** The values of OpenAI's parameters that change nothing, so that a model without the parameter honours them. */
export type NeutralValues = Readonly<Record<string, readonly unknown[]>>

type Parameters = Record<string, unknown>

/**
 * The parameters of a request that go to the model under the same name, without values that change nothing. Unknown
 * names stay, so that the check of the input tells them. Throws invalid_request for a parameter of OpenAI that the
 * model lacks.
 */
export const passedThrough = (given: Parameters, schema: ParametersSchema, neutral: NeutralValues): Parameters => {
  const passed = effective(given, schema, neutral)
  const lacking = Object.keys(passed).find(name => !has(schema, name) && Object.hasOwn(neutral, name))
  if (lacking === undefined) return passed
  const values = neutral[lacking]?.map(value => JSON.stringify(value)).join(' or ')
  throw placeFault(lacking, `must be ${values}, since the model does not have this parameter`, 'body')
}

/** The parameters that are not null, and may change something. */
export const effective = (given: Parameters, schema: ParametersSchema, neutral: NeutralValues): Parameters =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => value !== null && (takes(schema, name, value) || !isNeutral(name, value, neutral)),
    ),
  )

/** Adds parameters that the client gives under OpenAI's names. Throws for one that it gives under both names. */
export const underOtherNames = (renamed: Parameters, given: Parameters, names: ParameterNames): Parameters => {
  const twice = Object.keys(renamed).find(name => Object.hasOwn(given, name))
  if (twice === undefined) return { ...given, ...renamed }
  throw placeFault(twice, `means the same as ${names[twice]}; send only one of them`, 'body')
}

/** Whether a model has the parameter. An OpenAI default such as `auto` may not be among its values. */
const takes = (schema: ParametersSchema, name: string, value: unknown): boolean => {
  if (!has(schema, name)) return false
  const values = schema.properties[name]?.['enum']
  return !Array.isArray(values) || values.includes(value)
}

const has = ({ properties }: ParametersSchema, name: string): boolean => Object.hasOwn(properties, name)

const isNeutral = (name: string, value: unknown, neutral: NeutralValues) =>
  Object.hasOwn(neutral, name) && neutral[name]?.some(each => isDeepStrictEqual(each, value))

/** Only an explicit `false` keeps nothing: OpenAI's default stores, and its clients often send none. */
export const storeOf = ({ store }: { store?: unknown }): Pick<RunRequest, 'store'> => (store === false ? { store } : {})

/** The metadata of the run: the client's, and the names that it gives the end user. */
export const metadataOf = ({
  metadata,
  ...users
}: Pick<RunRequest, 'metadata'> & { user?: string; safety_identifier?: string }): Pick<RunRequest, 'metadata'> => {
  const kept = { ...users, ...metadata }
  return Object.keys(kept).length > 0 ? { metadata: kept } : {}
}
