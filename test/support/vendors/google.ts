import type { Test } from 'tap'
import { faultIn } from './google-requests.ts'
import { type Handler, reply, startVendorServer, type VendorServer } from './vendor-server.ts'

/** https://ai.google.dev/gemini-api/docs/api-key: keys begin like this. */
export const googleKey = 'AIzaSy-secret'

/** https://google.aip.dev/193 */
export const googleError = (code: number, status: string, message: string, details: unknown[] = []) => ({
  error: { code, message, status, details },
})

/** What a wrong key is answered with: https://github.com/google-gemini/gemini-cli/issues/2029 */
export const wrongKey = googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
  {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'API_KEY_INVALID',
    domain: 'googleapis.com',
    metadata: { service: 'generativelanguage.googleapis.com' },
  },
])

/** https://github.com/google-gemini/gemini-cli/issues/8437 */
export const exhausted = (quotaIds: string[], retryDelay?: string, message = 'You exceeded your current quota.') =>
  googleError(429, 'RESOURCE_EXHAUSTED', message, [
    {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: quotaIds.map(quotaId => ({
        quotaMetric: 'generativelanguage.googleapis.com/generate_content_paid_tier_requests',
        quotaId,
        quotaDimensions: { location: 'global', model: 'gemini-3-flash' },
      })),
    },
    { '@type': 'type.googleapis.com/google.rpc.Help', links: [] },
    ...(retryDelay ? [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }] : []),
  ])

/** https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse */
export const generated = (parts: unknown[], changes: Record<string, unknown> = {}) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, ...changes }],
  usageMetadata: {
    promptTokenCount: 8,
    candidatesTokenCount: 1120,
    totalTokenCount: 1228,
    thoughtsTokenCount: 100,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 8 }],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
  },
  modelVersion: 'gemini-3.1-flash-image',
  responseId: 'abc',
})

export const inlinePicture = (words: string) => ({
  inlineData: { mimeType: 'image/png', data: Buffer.from(words).toString('base64') },
})

/** https://ai.google.dev/gemini-api/docs/video: an operation of Veo. */
export const videoOperation = 'models/veo-3.1-generate-preview/operations/abc123'
export const videoDone = (generateVideoResponse: unknown) => ({
  name: videoOperation,
  done: true,
  response: {
    '@type': 'type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse',
    generateVideoResponse,
  },
})

/** https://ai.google.dev/gemini-api/docs/music-generation: an interaction with Lyria. */
export const interaction = (status: string, content: unknown[] = [], changes: Record<string, unknown> = {}) => ({
  id: 'v1_ChdXS0l4YWZXTk9xbk0xZThQczhEcmlROBIXV0tJeGFmV05PcW5NMWU4UHM4RHJpUTg',
  status,
  model: 'lyria-3.5',
  created: '2026-11-20T10:00:00Z',
  updated: '2026-11-20T10:00:30Z',
  steps: content.length > 0 ? [{ type: 'thought' }, { type: 'model_output', content }] : [],
  usage: {
    total_input_tokens: 12,
    total_output_tokens: 30,
    output_tokens_by_modality: [{ modality: 'audio', tokens: 30 }],
  },
  ...changes,
})

/** A stub of the Gemini API, which answers as the test wants to requests that are in order. */
export const startGoogle = (t: Test, answer: Handler): Promise<VendorServer> =>
  startVendorServer(t, (request, response) => {
    const { headers, path, body } = request
    if (headers['x-goog-api-key'] !== googleKey || headers.authorization) return reply(response, 400, wrongKey)
    const fault = request.method === 'POST' ? faultIn(path, body) : undefined
    if (fault) return reply(response, 400, googleError(400, 'INVALID_ARGUMENT', fault))
    if (!/^(\/download)?\/v1beta\//.test(path)) return reply(response, 404, '<html>404. That’s an error.')
    return answer(request, response)
  })
