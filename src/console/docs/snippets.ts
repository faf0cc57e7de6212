import { KEY_VARIABLE } from '../../services/catalog/example-request.ts'
import { type Operation, resolved, type Schema, type Schemas } from './api-document.ts'
import { examplesOf, samplePath, sampleQuery } from './sample.ts'
import type { Access } from './scopes.ts'

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'multipart/form-data'

interface Request {
  method: string
  url: string
  hasKey: boolean
  json: unknown
  /** The names of the files and the other fields of a form. */
  form: { files: readonly string[]; fields: readonly [name: string, text: string][] } | undefined
}

/** A request of an operation in several languages. */
export const snippetsOf = (operation: Operation, access: Access, baseUrl: string, schemas: Schemas) => {
  const query = sampleQuery(operation, schemas)
  const { [JSON_TYPE]: json, [FORM_TYPE]: form } = operation.body
  const request: Request = {
    method: operation.method,
    url: `${baseUrl}${samplePath(operation, schemas)}${query === '' ? '' : `?${query}`}`,
    hasKey: access.needs !== 'nothing',
    json: json && examplesOf(json, schemas)[0]?.value,
    form: json === undefined && form ? formOf(resolved(form.schema, schemas), schemas) : undefined,
  }
  return [
    { name: 'curl', text: curl(request) },
    { name: 'TypeScript', text: typeScript(request) },
    { name: 'Python', text: python(request) },
  ]
}

export const isFile = (schema: Schema, schemas: Schemas): boolean => 'contentMediaType' in resolved(schema, schemas)

const formOf = ({ properties = {}, required = [] }: Schema, schemas: Schemas) => {
  const names = Object.keys(properties)
  const files = names.filter(name => isFile(properties[name] ?? {}, schemas))
  const fields = names
    .filter(name => required.includes(name) && !files.includes(name))
    .map((name): [string, string] => [name, String(properties[name]?.examples?.[0] ?? '…')])
  return { files, fields }
}

/** A text between single quotes of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

const curl = ({ method, url, hasKey, json, form }: Request): string => {
  const usual = json !== undefined || form ? 'POST' : 'GET'
  return [
    `curl -s${method === usual ? '' : ` -X ${method}`} ${quoted(url)}`,
    hasKey && `-H "Authorization: Bearer $${KEY_VARIABLE}"`,
    json !== undefined && `-H 'Content-Type: ${JSON_TYPE}'`,
    json !== undefined && `-d ${quoted(JSON.stringify(json, null, 2))}`,
    ...(form?.files ?? []).map(name => `-F '${name}=@picture.jpg'`),
    ...(form?.fields ?? []).map(([name, text]) => `-F ${quoted(`${name}=${text}`)}`),
  ]
    .filter(line => typeof line === 'string')
    .join(' \\\n  ')
}

const typeScript = ({ method, url, hasKey, json, form }: Request): string => {
  const headers = [
    hasKey && `    Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`,`,
    json !== undefined && `    'Content-Type': '${JSON_TYPE}',`,
  ].filter(line => typeof line === 'string')
  const options = [
    method !== 'GET' && `  method: '${method}',`,
    ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
    json !== undefined && `  body: JSON.stringify(${indented(JSON.stringify(json, null, 2), 2)}),`,
    form && '  body: form,',
  ].filter(line => typeof line === 'string')
  return [
    ...(form ? ["import { openAsBlob } from 'node:fs'\n", 'const form = new FormData()'] : []),
    ...(form?.files ?? []).map(name => `form.set('${name}', await openAsBlob('picture.jpg'), 'picture.jpg')`),
    ...(form?.fields ?? []).map(([name, text]) => `form.set('${name}', ${JSON.stringify(text)})`),
    options.length > 0
      ? `const response = await fetch('${url}', {\n${options.join('\n')}\n})`
      : `const response = await fetch('${url}')`,
    'console.log(response.status, await response.text())',
  ].join('\n')
}

const python = ({ method, url, hasKey, json, form }: Request): string => {
  const lines = [
    `    "${url}",`,
    hasKey && `    headers={"Authorization": f"Bearer {os.environ['${KEY_VARIABLE}']}"},`,
    json !== undefined && `    json=${indented(literal(json), 4)},`,
    form && `    files={${form.files.map(name => `"${name}": open("picture.jpg", "rb")`).join(', ')}},`,
    form && form.fields.length > 0 && `    data=${literal(Object.fromEntries(form.fields))},`,
  ].filter(line => typeof line === 'string')
  return [
    ...(hasKey ? ['import os'] : []),
    'import requests\n',
    `response = requests.${method.toLowerCase()}(`,
    ...lines,
    ')',
    'print(response.status_code, response.text)',
  ].join('\n')
}

const indented = (text: string, by: number) => text.replaceAll('\n', `\n${' '.repeat(by)}`)

/** JSON as Python writes it. */
const literal = (value: unknown, indent = ''): string => {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}  `
  const [open, close, parts] = Array.isArray(value)
    ? ['[', ']', value.map(item => literal(item, inner))]
    : ['{', '}', Object.entries(value).map(([name, of]) => `${JSON.stringify(name)}: ${literal(of, inner)}`)]
  return parts.length === 0 ? `${open}${close}` : `${open}\n${inner}${parts.join(`,\n${inner}`)},\n${indent}${close}`
}
