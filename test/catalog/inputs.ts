import fc from 'fast-check'
import type { Endpoint, Family, ParametersSchema } from '../../schemas/catalog.ts'
import { shipped } from '../../src/catalog/shipped.ts'
import { compileFillingCheck } from '../../src/services/schema-check.ts'

export type Input = Record<string, unknown>

/** Every shipped endpoint with its family, except the sandbox. */
export const endpoints: [Family, Endpoint][] = shipped
  .filter(({ id }) => id !== 'sandbox')
  .flatMap(family => family.endpoints.map((endpoint): [Family, Endpoint] => [family, endpoint]))

/** Fills in the defaults like the service, and throws for an invalid input. */
export const filler = (schema: ParametersSchema): ((input: Input) => Input) => {
  const fill = compileFillingCheck(schema)
  return input => {
    const filled = structuredClone(input)
    const faults = fill(filled)
    if (faults.length > 0) throw new Error(JSON.stringify(faults))
    return filled
  }
}

/** Valid inputs with random subsets of the optional parameters. */
export const inputsOf = ({ properties, required = [], oneOf = [] }: ParametersSchema): fc.Arbitrary<Input> => {
  const alternatives = oneOf.flatMap(({ required: names }) => names)
  const inputWith = (alternative?: string) => {
    const names = Object.keys(properties).filter(name => name === alternative || !alternatives.includes(name))
    return fc.record(
      Object.fromEntries(names.map(name => [name, valuesOf(properties[name] as Record<string, unknown>)])),
      {
        requiredKeys: alternative === undefined ? required : [...required, alternative],
        noNullPrototype: true,
      },
    ) as fc.Arbitrary<Input>
  }
  return alternatives.length > 0 ? fc.oneof(...alternatives.map(inputWith)) : inputWith()
}

/** A schema cannot say all rules of a conversation. */
const conversations = fc.array(
  fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.string({ minLength: 1 }) }),
  {
    minLength: 1,
  },
)

const valuesOf = (declared: Record<string, unknown>): fc.Arbitrary<unknown> => {
  if (declared['title'] === 'Messages') return conversations
  if (Array.isArray(declared['enum'])) return fc.constantFrom(...declared['enum'])
  if (declared['pattern'] && declared['type'] === 'string')
    return fc.stringMatching(new RegExp(String(declared['pattern'])), { size: 'small' })
  const [minimum, maximum] = [Number(declared['minimum']), Number(declared['maximum'])]
  const step = Number(declared['multipleOf'] ?? 1)
  const { type } = declared
  if (Array.isArray(type)) return fc.oneof(...type.map(each => valuesOf({ ...declared, type: each })))
  switch (type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: Math.ceil(minimum / step), max: Math.floor(maximum / step) }).map(count => count * step)
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true })
    case 'string':
      return fc.string({ minLength: Number(declared['minLength'] ?? 0), maxLength: Number(declared['maxLength']) })
    case 'array':
      return fc.array(valuesOf(declared['items'] as Record<string, unknown>), { minLength: 1, maxLength: 3 })
    case 'object':
      return inputsOf({ properties: {}, ...declared } as unknown as ParametersSchema)
    default:
      throw new Error(`no values are known of ${JSON.stringify(declared)}`)
  }
}

/** An example with the defaults, as the service maps it. */
export const example = ({ parametersSchema }: Endpoint, index: 0 | 1): Input =>
  filler(parametersSchema)(parametersSchema.examples?.[index] ?? {})

/** The examples, and each with every choice and bound of one parameter after the other. */
export const samplesOf = (endpoint: Endpoint): Input[] => {
  const examples = ([0, 1] as const).map(index => example(endpoint, index))
  const varied = Object.entries(endpoint.parametersSchema.properties).flatMap(([name, declared]) =>
    choicesOf(declared).flatMap(value => examples.map(input => ({ ...input, [name]: value }))),
  )
  return [...examples, ...varied]
}

const choicesOf = ({ type, enum: choices, minimum, maximum }: Record<string, unknown>): unknown[] => {
  if (Array.isArray(choices)) return choices
  if (type === 'boolean') return [true, false]
  return [minimum, maximum].filter(bound => bound !== undefined)
}
