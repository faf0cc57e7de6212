import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { type Fault, misbehave, reply, startVendorServer, type VendorRequest } from './vendor-server.ts'

export const REPLICATE_KEY = 'r8_0123456789abcdefghijklmnopqrstuvwxyzA'

/** https://replicate.com/docs/topics/webhooks/verify-webhook */
export const SIGNING_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'

export const VERSION = '5c7d5dc6dd8bf75c1acaa8565735e7986bc5b66206b55cca93cb72c9bf15ccaa'

/** What polls find, one after the other; the last one stays. */
type States = Record<string, unknown>[]

export interface ReplicateStub {
  /** The base address, as the client wants it. */
  url: string
  requests: VendorRequest[]
  /** The official models that exist. */
  models: string[]
  /** The states of predictions that are created from now on. */
  states: States
  /** Answers all requests from now on. */
  fault: Fault | undefined
  /** Answers uploads from now on. */
  uploadFault: Fault | undefined
  /** The secret with which callbacks of each account are signed, by its key. */
  secrets: Map<string, string>
  /** The requests that create predictions. */
  submissions(): VendorRequest[]
}

/** Keeps to https://replicate.com/docs/reference/http (https://api.replicate.com/openapi.json). */
export const startReplicate = async (t: Test): Promise<ReplicateStub> => {
  const jobs = new Map<string, { prediction: object; states: States; polls: number }>()
  const server = await startVendorServer(t, (request, response) => {
    if (stub.fault) return misbehave(response, stub.fault)
    // https://replicate.com/docs/reference/http#authentication
    const secret = stub.secrets.get(request.headers.authorization?.replace('Bearer ', '') ?? '')
    if (secret === undefined)
      return problem(response, 401, 'Unauthenticated', 'You did not pass a valid authentication token')
    const route = `${request.method} ${request.path}`
    if (route === 'GET /v1/account') return reply(response, 200, { type: 'user', username: 'acme', name: 'Acme' })
    if (route === 'GET /v1/webhooks/default/secret') return reply(response, 200, { key: secret })
    if (route === 'POST /v1/files') return upload(request, response)
    const model = /^POST \/v1\/models\/([\w.-]+\/[\w.-]+)\/predictions$/.exec(route)?.[1]
    if (model !== undefined && !stub.models.includes(model))
      return problem(response, 404, 'Not found', 'The requested resource could not be found.')
    if (model !== undefined || route === 'POST /v1/predictions') return create(request, model, response)
    const [, method, id = '', isCancel] = /^(\w+) \/v1\/predictions\/(\w+)(\/cancel)?$/.exec(route) ?? []
    const job = jobs.get(id)
    if (!job) return problem(response, 404, 'Not found', 'The requested resource could not be found.')
    if (isCancel && method === 'POST') {
      job.states = [{ status: 'canceled', metrics: { predict_time: 0.5 } }]
      job.polls = 0
      return reply(response, 200, { ...job.prediction, status: 'canceled' })
    }
    const state = job.states[Math.min(job.polls++, job.states.length - 1)]
    reply(response, 200, { ...job.prediction, ...state })
  })

  const create = (request: VendorRequest, model: string | undefined, response: ServerResponse) => {
    const body = JSON.parse(request.body.toString()) as Record<string, unknown>
    const { input, version, webhook, webhook_events_filter, ...others } = body
    if (request.headers['content-type'] !== 'application/json' || Object.keys(others).length > 0)
      return problem(response, 422, 'Input validation failed', `- unexpected: ${Object.keys(others)}\n`)
    if (!model && version !== VERSION)
      return problem(response, 422, 'Invalid version or not permitted', 'The specified version does not exist')
    if (webhook !== undefined && !String(webhook).startsWith('https://'))
      return problem(response, 422, 'Input validation failed', '- webhook: not an HTTPS URL\n')
    if (webhook_events_filter !== undefined && String(webhook_events_filter) !== 'completed')
      return problem(response, 422, 'Input validation failed', '- webhook_events_filter: only this is wanted\n')
    if (typeof (input as { prompt?: unknown })?.prompt !== 'string')
      return problem(response, 422, 'Input validation failed', '- input: prompt is required\n')
    const id = `gm3qorzdhgbfurvjtvhg6dckh${jobs.size}`
    const prediction = {
      id,
      model: model ?? 'acme/model',
      version: model ? 'hidden' : version,
      input,
      logs: '',
      output: null,
      error: null,
      data_removed: false,
      created_at: new Date().toISOString(),
      source: 'api',
      urls: { get: `https://api.replicate.com/v1/predictions/${id}`, cancel: '', stream: '' },
    }
    jobs.set(id, { prediction, states: stub.states, polls: 0 })
    reply(response, 201, { ...prediction, status: 'starting' })
  }

  /** https://replicate.com/docs/reference/http#files.create */
  const upload = ({ headers, body }: VendorRequest, response: ServerResponse) => {
    if (stub.uploadFault) return misbehave(response, stub.uploadFault)
    if (!/^multipart\/form-data; boundary=/.test(headers['content-type'] ?? '') || !body.includes('name="content"'))
      return problem(response, 400, 'Bad request', 'Missing content')
    const id = 'cneqzikepnug6xezperrr4z55o'
    const urls = { get: `https://api.replicate.com/v1/files/${id}` }
    reply(response, 201, { id, content_type: 'image/png', size: body.length, metadata: {}, urls })
  }

  const stub: ReplicateStub = {
    url: `${server.url}/v1`,
    requests: server.requests,
    models: ['black-forest-labs/flux-schnell', 'openai/gpt-5-mini'],
    states: [{ status: 'succeeded', output: ['https://replicate.delivery/xezq/one/out-0.webp'], metrics: {} }],
    fault: undefined,
    uploadFault: undefined,
    secrets: new Map([[REPLICATE_KEY, SIGNING_SECRET]]),
    submissions: () => server.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/predictions')),
  }
  return stub
}

/** Its form of errors, as in {"title":"Insufficient credit","detail":"You have …","status":402}. */
export const problemBody = (status: number, title: string, detail: string) => ({ title, detail, status })

const problem = (response: ServerResponse, status: number, title: string, detail: string) =>
  reply(response, status, problemBody(status, title, detail), { 'Content-Type': 'application/problem+json' })
