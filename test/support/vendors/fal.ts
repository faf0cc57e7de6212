import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { type Fault, misbehave, reply, startVendorServer, type VendorRequest } from './vendor-server.ts'

export const FAL_KEY = 'a1b2c3d4-key-id:0123456789abcdef-key-secret'

/** The model and the app that its jobs belong to: an id may have more parts than the addresses of its jobs. */
const APPS: Record<string, string> = {
  'fal-ai/flux-pro/v1.1': 'fal-ai/flux-pro',
  'bytedance/seedance-2.0/fast/image-to-video': 'bytedance/seedance-2.0',
  'workflows/acme/posters/print': 'workflows/acme/posters',
  'acme/suite/painter': 'acme/suite/painter',
  'fal-ai/kling-video/v3/pro/text-to-video': 'fal-ai/kling-video',
  'fal-ai/kling-video/v3/pro/image-to-video': 'fal-ai/kling-video',
}

interface FalJob {
  /** The states that polls find, one after the other; the last one stays. */
  states: object[]
  result: { status: number; body: unknown; headers?: Record<string, string> }
}

export const COMPLETED = { status: 'COMPLETED', logs: null, metrics: { inference_time: 3.7 } }

/** https://fal.ai/models/fal-ai/flux-pro/v1.1/api#schema-output */
export const PICTURES = {
  images: [{ url: 'https://v3.fal.media/files/rabbit/one.jpeg', content_type: 'image/jpeg', width: 1024, height: 768 }],
  seed: 42,
  has_nsfw_concepts: [false],
  prompt: 'a lighthouse',
}

export interface FalStub {
  url: string
  requests: VendorRequest[]
  /** The jobs that are accepted from now on. */
  job: FalJob
  /** Answers all requests from now on. */
  fault: Fault | undefined
  /** The public half of each key in the published set. */
  keys: KeyObject[]
}

/**
 * Keeps to the queue of https://fal.ai/docs/documentation/model-apis/inference/queue and to the types of
 * @fal-ai/client 1.10.1 (types/common.d.ts). It names its jobs by fal's own host, as a proxy's answers would.
 */
export const startFal = async (t: Test): Promise<FalStub> => {
  const jobs = new Map<string, FalJob & { app: string; polls: number }>()
  const server = await startVendorServer(t, (request, response) => {
    if (stub.fault) return misbehave(response, stub.fault)
    const { pathname, searchParams } = new URL(request.path, 'http://stub')
    // https://fal.ai/docs/documentation/model-apis/inference/webhooks
    if (pathname === '/.well-known/jwks.json') return reply(response, 200, { keys: stub.keys.map(toJwk) })
    // https://fal.ai/docs/documentation/model-apis/authentication
    if (request.headers.authorization !== `Key ${FAL_KEY}`)
      return reply(response, 401, { detail: `Authorization token=${FAL_KEY.split(':')[1]} is invalid.` })
    const [, app = '', id = '', action = ''] = /^\/(.+)\/requests\/([^/]+)(?:\/(status|cancel))?$/.exec(pathname) ?? []
    if (request.method === 'POST') return accept(request, pathname.slice(1), searchParams, response)
    const job = jobs.get(id)
    if (!job || job.app !== app) return reply(response, 404, { detail: 'Request not found' })
    if (action === 'status' && request.method === 'GET') {
      if (searchParams.get('logs') !== '0') return reply(response, 422, { detail: 'The test wants no logs' })
      const state = job.states[Math.min(job.polls++, job.states.length - 1)] as { status: string }
      return reply(response, state.status === 'COMPLETED' ? 200 : 202, { ...state, ...addresses(app, id) })
    }
    if (action === 'cancel' && request.method === 'PUT') {
      if (job.polls >= job.states.length) return reply(response, 400, { status: 'ALREADY_COMPLETED' })
      return reply(response, 202, { status: 'CANCELLATION_REQUESTED' })
    }
    if (request.method !== 'GET') return reply(response, 405, { detail: 'Method Not Allowed' })
    if (job.polls < job.states.length) return reply(response, 400, { detail: 'Request is still in progress' })
    reply(response, job.result.status, job.result.body, job.result.headers)
  })

  const accept = (request: VendorRequest, model: string, query: URLSearchParams, response: ServerResponse) => {
    const app = APPS[model]
    if (!app) return reply(response, 404, { detail: `Application '${model}' not found` })
    if (request.headers['content-type'] !== 'application/json')
      return reply(response, 415, { detail: 'JSON is wanted' })
    if (query.has('fal_webhook') && !query.get('fal_webhook')?.startsWith('https://'))
      return reply(response, 422, { detail: 'fal_webhook is no https URL' })
    const { prompt } = JSON.parse(request.body.toString()) as { prompt?: unknown }
    // https://fal.ai/docs/documentation/model-apis/errors
    if (typeof prompt !== 'string')
      return reply(response, 422, { detail: [{ loc: ['body', 'prompt'], msg: 'Field required', type: 'missing' }] })
    const id = `764cabcf-b745-4b3e-ae38-${String(jobs.size).padStart(12, '0')}`
    jobs.set(id, { ...stub.job, app, polls: 0 })
    reply(response, 200, { status: 'IN_QUEUE', request_id: id, queue_position: 0, ...addresses(app, id) })
  }

  const stub: FalStub = {
    ...server,
    job: { states: [COMPLETED], result: { status: 200, body: PICTURES } },
    fault: undefined,
    keys: [],
  }
  return stub
}

export const newFalKey = () => generateKeyPairSync('ed25519')

const addresses = (app: string, id: string) => {
  const address = `https://queue.fal.run/${app}/requests/${id}`
  return { response_url: address, status_url: `${address}/status`, cancel_url: `${address}/cancel` }
}

const toJwk = (key: KeyObject) => ({ ...key.export({ format: 'jwk' }), use: 'sig', alg: 'EdDSA' })
