import type { ToolSummary } from '../../schemas/api/descriptors.ts'
import type { ModelFamily } from '../../schemas/api/model.ts'
import { IDEMPOTENCY_HOURS } from '../../schemas/primitives.ts'
import { info } from './api-info.ts'
import { type Operation, type Tag, templateOf } from './operation.ts'

/** What the text tells of, beside what is so of every service. */
export interface Told {
  baseUrl: string
  operations: Operation[]
  families: ModelFamily[]
  tools: ToolSummary[]
}

/** What an agent must know to use the service, in the form of https://llmstxt.org. */
export const llmsText = ({ baseUrl, operations, families, tools }: Told): string => {
  const links = (tag: Tag) => operations.filter(of => of.tag === tag && isPage(of)).map(of => linkTo(of, baseUrl))
  const sections = [...new Set(operations.map(of => of.tag))].filter(tag => tag !== OPTIONAL)
  const blocks = [
    `# ${info.title}`,
    `> ${info.summary}`,
    info.description,
    `Requests go to ${baseUrl} with the header \`Authorization: Bearer <API key>\`; those marked "no key" need none. The operator gives out keys.`,
    list(guide),
    `Agents that speak the Model Context Protocol connect to ${baseUrl}/mcp (Streamable HTTP, without sessions), with the same key.`,
    `Its tools:\n${list(tools.map(({ name, title }) => `\`${name}\`: ${title}`))}`,
    `What can be asked for:\n${list(operations.filter(of => of.tag !== OPTIONAL).map(showOperation))}`,
    `Models, with the least and the most that a run costs:\n${list(families.map(showFamily))}`,
    ...sections.map(tag => section(tag, links(tag))),
    section('Optional', links(OPTIONAL)),
  ]
  return `${blocks.filter(block => block !== '').join('\n\n')}\n`
}

/** What a reader with little room may leave out. */
const OPTIONAL: Tag = 'Service'

const guide = [
  '**Running a model**: `POST /v1/run` with a JSON body such as `{"model": "<id>", "input": {"prompt": "a mountain lake"}}`. `GET /v1/models` has the `parameters_schema` of each input; a field that is not in it is refused. The result is in `output`: `url`, `urls` or `text`. Its files can be had without a key until `will_delete_at`.',
  '**Cost**: with `?dry_run=true` the same request is answered with its price, and nothing is run or charged. `GET /v1/balance` is what is left. Credits are debited when a run is accepted and given back in full when it fails. Where they do not suffice, the answer is 402 with `required_credits` and `credits_balance`.',
  `**Repeating**: give each run that you want an \`Idempotency-Key\` of its own, as a header. For ${IDEMPOTENCY_HOURS} hours the same request with the same key is the same run, charged once. So a request whose answer was lost, or was 503, can be sent again as it was.`,
  '**Waiting**: pictures, short text and speech are answered with their result. Video and music are answered with 202 at once: ask at `Location` every `Retry-After` seconds, let an answer wait with `Prefer: wait=60`, follow `GET /v1/runs/{id}/events`, or give a `webhook_url`.',
  '**Failing**: a run that failed is answered with 200, `"status": "failed"` and an `error`, so look at `status`. A request that is refused is answered with `{"error": {"code", "message", "request_id"}}`, and the places that are wrong in `errors`.',
  '**Files as input**: `image_url` takes a public address, or the `url` of an upload; `POST /v1/uploads` takes a file as `multipart/form-data`.',
]

/** Whether it can be looked at without knowing more than its address. */
const isPage = ({ method, path }: Operation) => method === 'get' && !path.includes(':')

const linkTo = ({ summary, path, description }: Operation, baseUrl: string) =>
  `[${summary}](${baseUrl}${path})${description === undefined ? '' : `: ${description.replaceAll(/\s+/g, ' ')}`}`

const showOperation = (operation: Operation) =>
  `\`${operation.method.toUpperCase()} ${templateOf(operation)}\`: ${operation.summary}${operation.open ? ' (no key)' : ''}`

const showFamily = ({ id, output_type, credits_range: { min, max } }: ModelFamily) =>
  `\`${id}\` (${output_type}): ${min === max ? min : `${min} to ${max}`} credits`

const list = (items: string[]) => items.map(item => `- ${item}`).join('\n')

const section = (name: string, links: string[]) => (links.length > 0 ? `## ${name}\n\n${list(links)}` : '')
