import { createHash, createHmac, type KeyObject, sign } from 'node:crypto'
import { SIGNING_SECRET } from './replicate.ts'

/** A callback as it arrives. */
export interface SignedCallback {
  headers: Record<string, string>
  body: Buffer
}

const secondsOf = (atMs: number) => String(Math.floor(atMs / 1000))

export const FAL_REQUEST = '764cabcf-b745-4b3e-ae38-1200304cf45b'

/** https://fal.ai/docs/documentation/model-apis/inference/webhooks */
export const FAL_BODY = JSON.stringify({
  ...{ request_id: FAL_REQUEST, gateway_request_id: FAL_REQUEST },
  ...{ status: 'OK', payload: { images: [] } },
})

/** Signed as https://fal.ai/docs/documentation/model-apis/inference/webhooks says. */
export const falCallback = (
  key: KeyObject,
  { body = FAL_BODY, atMs = Date.now(), requestId = FAL_REQUEST } = {},
): SignedCallback => {
  const timestamp = secondsOf(atMs)
  const hash = createHash('sha256').update(body).digest('hex')
  const message = `${requestId}\nuser_2abc\n${timestamp}\n${hash}`
  const headers = {
    'x-fal-webhook-request-id': requestId,
    'x-fal-webhook-user-id': 'user_2abc',
    'x-fal-webhook-timestamp': timestamp,
    'x-fal-webhook-signature': sign(null, Buffer.from(message), key).toString('hex'),
  }
  return { headers, body: Buffer.from(body) }
}

export const PREDICTION = 'gm3qorzdhgbfurvjtvhg6dckhu'

/** A prediction: https://replicate.com/docs/topics/webhooks/receive-webhook */
export const REPLICATE_BODY = JSON.stringify({
  ...{ id: PREDICTION, status: 'succeeded' },
  ...{ input: { prompt: 'ä lighthouse' }, output: [] },
})

/** Signed as https://replicate.com/docs/topics/webhooks/verify-webhook says. */
export const replicateCallback = ({
  secret = SIGNING_SECRET,
  body = REPLICATE_BODY,
  atMs = Date.now(),
} = {}): SignedCallback => {
  const timestamp = secondsOf(atMs)
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64')
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
  return { headers, body: Buffer.from(body) }
}
