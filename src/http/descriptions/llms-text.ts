import type { ToolSummary } from '../../../schemas/api/descriptors.ts'
import type { ModelFamily } from '../../../schemas/api/model.ts'
import { IDEMPOTENCY_HOURS } from '../../../schemas/primitives.ts'
import { type Operation, type Tag, templateOf } from '../operation.ts'
import { info } from './api-info.ts'

/** The facts that differ between services. */
export interface GuideFacts {
  /** The name of the service. */
  title: string
  baseUrl: string
  operations: Operation[]
  families: ModelFamily[]
  tools: ToolSummary[]
}

/** A guide to the service for agents, in the https://llmstxt.org format. */
export const llmsText = ({ title, baseUrl, operations: all, families, tools }: GuideFacts): string => {
  // Agents have the keys of accounts.
  const operations = all.filter(of => of.auth !== 'auditor key')
  const links = (tag: Tag) => operations.filter(of => of.tag === tag && isPage(of)).map(of => linkTo(of, baseUrl))
  const sections = [...new Set(operations.map(of => of.tag))].filter(tag => tag !== OPTIONAL)
  const blocks = [
    `# ${title}`,
    `> ${info.summary}`,
    info.description,
    [
      `Send requests to ${baseUrl} with the header \`Authorization: Bearer <API key>\`.`,
      'Requests marked "no key" need none. The owner of an account creates API keys.',
    ].join(' '),
    list(guide),
    `MCP clients connect to ${baseUrl}/mcp (Streamable HTTP, no sessions) with the same API key.`,
    `MCP tools:\n${list(tools.map(({ name, title }) => `\`${name}\`: ${title}`))}`,
    `Requests:\n${list(operations.filter(of => of.tag !== OPTIONAL).map(showOperation))}`,
    `Models, with the lowest and highest price of a run:\n${list(families.map(showFamily))}`,
    ...sections.map(tag => section(tag, links(tag))),
    section('Optional', links(OPTIONAL)),
  ]
  return `${blocks.filter(block => block !== '').join('\n\n')}\n`
}

/** The section that readers with little room may skip. */
const OPTIONAL: Tag = 'Service'

const guide = [
  [
    '**Running a model**:',
    'send `POST /v1/run` with a JSON body such as `{"model": "<id>", "input": {"prompt": "a mountain lake"}}`.',
    '`GET /v1/models` returns the `parameters_schema` of each input; other fields are refused.',
    'The result is in `output`: `url`, `urls`, `text` or `tool_calls`.',
    'Its files are readable without a key until `will_delete_at`.',
  ],
  [
    '**Text**: a text model takes a `prompt` or `messages`, and `tools` that it may call.',
    'With `"stream": true`, the text comes as server-sent events.',
    "For clients of OpenAI's API, the base URL is the address of this service with `/v1`.",
  ],
  [
    '**Cost**: with `?dry_run=true`, the same request returns its price without running or charging anything.',
    '`GET /v1/balance` returns the remaining credits, and `GET /v1/usage` the runs and credits by day or model.',
    'Credits are debited when a run is accepted and refunded in full if it fails.',
    'For text, the debit is the most that the run can cost, and the rest is released when the run completes.',
    'If the balance is too low, the response is 402 with `required_credits`, `credits_balance` and, if the service',
    'sells credits, `offers`: show their `buy_url` to the owner of the account.',
    'A key may also have a budget: a 402 then says when the budget renews (`renews_at`), and `GET /v1/key` shows how',
    'much of the budget is left. `max_credits` refuses a run that can cost more, before any charge, and `budget`',
    'names a budget of `POST /v1/budgets`, for a task or a customer.',
  ],
  [
    '**Repeating**: send a new `Idempotency-Key` header with each run.',
    `For ${IDEMPOTENCY_HOURS} hours, repeating the request with its key returns the first run, which is charged once.`,
    'If a response is lost or is 503, send the same request again. After a 429, wait `Retry-After` seconds first.',
  ],
  [
    '**Waiting**: images, short text and speech return their result. Video and music return 202:',
    'poll `Location` every `Retry-After` seconds, hold the response with `Prefer: wait=60`,',
    'follow `GET /v1/runs/{id}/events`, or send a `webhook_url`.',
  ],
  [
    '**Failing**: a failed run returns 200 with `"status": "failed"` and an `error`, so check `status`.',
    'A refused request returns `{"error": {"code", "message", "request_id"}}`, with the faults in `errors`.',
  ],
  [
    '**Files as input**: `image_url`, `end_image_url` and `video_url` take a public URL or the `url` of an upload.',
    '`POST /v1/uploads` takes a file as `multipart/form-data`.',
  ],
].map(sentences => sentences.join(' '))

/** Whether a GET of the path works without parameters. */
const isPage = ({ method, path, asks }: Operation) => method === 'get' && !path.includes(':') && !asks

const linkTo = ({ summary, path, description }: Operation, baseUrl: string) =>
  `[${summary}](${baseUrl}${path}): ${description.replaceAll(/\s+/g, ' ')}`

const showOperation = (operation: Operation) => {
  const key = operation.auth === 'none' ? ' (no key)' : ''
  return `\`${operation.method.toUpperCase()} ${templateOf(operation)}\`: ${operation.summary}${key}`
}

const showFamily = ({ id, output_type, credits_range: { min, max }, endpoints }: ModelFamily) => {
  const availability = endpoints.some(({ available }) => available) ? '' : '; unavailable now'
  return `\`${id}\` (${output_type}): ${min === max ? min : `${min} to ${max}`} credits${availability}`
}

const list = (items: string[]) => items.map(item => `- ${item}`).join('\n')

const section = (name: string, links: string[]) => (links.length > 0 ? `## ${name}\n\n${list(links)}` : '')
