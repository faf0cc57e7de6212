import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type ErrorBody, errorStatus } from '../../schemas/api/error.ts'
import { describeApi } from '../../src/http/openapi/document.ts'
import { routes } from '../../src/http/routes.ts'
import { toPointerPart } from '../../src/services/schema-check.ts'

/** A fully read response. */
export interface Answered {
  status: number
  headers: Headers
  text: string
}

/** The parts of an OpenAPI document that describe responses. */
interface Described {
  paths: Record<string, Record<string, { responses: Record<string, Response | { $ref: string }> }>>
  components: Record<string, Record<string, unknown>>
}

interface Response {
  headers?: Record<string, Header | { $ref: string }>
  content?: Record<string, { schema: object }>
}

interface Header {
  required: boolean
  schema: object
}

/** Omits parts that do not affect responses: the models and the server URL. */
const document = describeApi(routes, {
  title: 'Tollgate',
  baseUrl: 'http://localhost',
  families: [],
}) as unknown as Described

/** AJV as strict as the service's own, extended with the keywords around schemas in a document. */
export const documentAjv = (root: object) => {
  // Most schemas check one or two values. To optimize their code takes longer than everything else together.
  const code = { optimize: false }
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    allErrors: true,
    discriminator: true,
    code,
  })
  for (const word of ['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'webhooks', 'components'])
    ajv.addKeyword(word)
  ajv.addFormat('uri', text => URL.canParse(text))
  ajv.addFormat('uri-reference', text => URL.canParse(text, 'http://localhost'))
  ajv.addFormat('date-time', text => Date.parse(text) >= 0 && new Date(text).toISOString() === text)
  return ajv.addSchema(root, 'document')
}

const ajv = documentAjv(document)

/** Templates with more literal segments come first. */
const templates = Object.keys(document.paths)
  .sort((one, other) => one.split('{').length - other.split('{').length)
  .map(template => ({
    template,
    pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }))

/** Throws if a response does not match the document. Unknown operations must return an error body. */
export const checkAnswer = (method: string, target: string, answer: Answered) => {
  // OPTIONS belongs to HTTP, not to the document.
  if (method === 'OPTIONS') return
  const faults = faultsOf(method, target, answer)
  if (faults.length === 0) return
  const { status, text } = answer
  const shown = text.length > 2000 ? `${text.slice(0, 2000)}…` : text
  throw new Error(
    `${method} ${target} is answered with ${status}, not as the document has it: ${faults.join('; ')}\n${shown}`,
  )
}

const faultsOf = (method: string, target: string, answer: Answered): string[] => {
  const [path = ''] = target.split('?')
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const matching = templates.filter(({ pattern }) => pattern.test(path))
  const template = matching.find(route => document.paths[route.template]?.[verb])?.template
  if (template === undefined) return faultsOfUnknown(matching.length > 0, method, answer)
  const operation = `#/paths/${escapePointer(template)}/${verb}`
  const declared = document.paths[template]?.[verb]?.responses[answer.status]
  if (!declared) return ['it has no such status']
  const { value, pointer } = resolve<Response>(declared, `${operation}/responses/${answer.status}`)
  return [
    ...faultsOfHeaders(value, pointer, answer),
    ...(method === 'HEAD' ? faultsOfEmpty(answer) : faultsOfBody(value, pointer, answer)),
  ]
}

/** A path or method that the document lacks. */
const faultsOfUnknown = (isKnownPath: boolean, method: string, answer: Answered): string[] => {
  if (method === 'HEAD') return faultsOfEmpty(answer)
  const pointer = '#/components/schemas/ErrorBody'
  const faults = faultsOfValue(pointer, bodyOf(answer))
  if (faults.length > 0) return faults.map(fault => `it lacks the operation, and the error is none: ${fault}`)
  const { code } = (bodyOf(answer) as ErrorBody).error
  const right = isKnownPath ? ['method_not_allowed', 'invalid_request'] : ['not_found', 'invalid_request']
  if (!right.includes(code)) return [`it lacks the operation, and the code is ${code}`]
  return errorStatus[code] === answer.status ? [] : [`the code is ${code}`]
}

const faultsOfHeaders = ({ headers = {} }: Response, pointer: string, answer: Answered): string[] =>
  Object.entries(headers).flatMap(([name, declared]) => {
    const header = resolve<Header>(declared, `${pointer}/headers/${escapePointer(name)}`)
    const given = answer.headers.get(name)
    if (given === null) return header.value.required ? [`the header ${name} is missing`] : []
    return faultsOfValue(`${header.pointer}/schema`, given).map(fault => `the header ${name} ${fault}: ${given}`)
  })

const faultsOfBody = ({ content }: Response, pointer: string, answer: Answered): string[] => {
  if (!content) return faultsOfEmpty(answer)
  const given = typeOf(answer)
  const type = Object.keys(content).find(
    range => range === given || range === '*/*' || `${given.split('/')[0]}/*` === range,
  )
  if (type === undefined) return [`the type is ${given}, and not one of ${Object.keys(content).join(', ')}`]
  return faultsOfValue(`${pointer}/content/${escapePointer(type)}/schema`, bodyOf(answer))
}

const faultsOfEmpty = ({ text }: Answered): string[] => (text === '' ? [] : ['there should be no body'])

const typeOf = ({ headers }: Answered) => (headers.get('Content-Type') ?? 'none').split(';')[0] as string

const bodyOf = (answer: Answered): unknown => {
  if (typeOf(answer) !== 'application/json') return answer.text
  return answer.text === '' ? undefined : JSON.parse(answer.text)
}

const validators = new Map<string, ValidateFunction>()

/** Schemas are compiled on first use, because most tests need only a few. */
const faultsOfValue = (pointer: string, value: unknown): string[] => {
  let validate = validators.get(pointer)
  if (!validate) {
    validate = ajv.compile({ $ref: `document${pointer}` })
    validators.set(pointer, validate)
  }
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

/** Resolves references: the object at a pointer, and its actual pointer. */
const resolve = <Value>(value: Value | { $ref: string }, pointer: string): { value: Value; pointer: string } => {
  if (!(value instanceof Object && '$ref' in value)) return { value: value as Value, pointer }
  const [, , type, name] = value.$ref.split('/') as [string, string, string, string]
  return { value: document.components[type]?.[name] as Value, pointer: value.$ref }
}

export const escapePointer = (name: string) => encodeURIComponent(toPointerPart(name))
