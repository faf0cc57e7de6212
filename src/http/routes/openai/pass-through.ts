import { isDeepStrictEqual } from 'node:util'
import type { RunRequest } from '../../../../schemas/api/run.ts'
import type { ParametersSchema } from '../../../../schemas/catalog.ts'
import { placeFault } from '../../../transports/moment.ts'
import type { ParameterNames } from './errors.ts'

/** The values of OpenAI's parameters that change nothing, so that a model without the parameter honours them. */
export type NeutralValues = Readonly<Record<string, readonly unknown[]>>

type Parameters = Record<string, unknown>

/**
 * The parameters of a request that go to the model under the same name. All others stay too, so that the check of the
 * input names them, except for values that change nothing.
 */
export const passedThrough = (given: Parameters, schema: ParametersSchema, neutral: NeutralValues): Parameters =>
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
const takes = ({ properties }: ParametersSchema, name: string, value: unknown): boolean => {
  if (!Object.hasOwn(properties, name)) return false
  const values = properties[name]?.['enum']
  return !Array.isArray(values) || values.includes(value)
}

const isNeutral = (name: string, value: unknown, neutral: NeutralValues) =>
  Object.hasOwn(neutral, name) && neutral[name]?.some(each => isDeepStrictEqual(each, value))

/** The metadata of the run: the client's, and the names that it gives the end user. */
export const metadataOf = ({
  metadata,
  ...users
}: Pick<RunRequest, 'metadata'> & { user?: string; safety_identifier?: string }): Pick<RunRequest, 'metadata'> => {
  const kept = { ...users, ...metadata }
  return Object.keys(kept).length > 0 ? { metadata: kept } : {}
}
