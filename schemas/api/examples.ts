import type { Balance } from './balance.ts'
import type { WebhookDelivery, WebhookDeliveryList, WebhookTest, WebhookTestRequest } from './delivery.ts'
import type { Health, Readiness } from './health.ts'
import type { ApiKey, CreatedKey, KeyList, NewKey, OwnKey, RevokedKey } from './key.ts'
import type { LedgerLine, LedgerList } from './ledger.ts'
import type { ModelList } from './model.ts'
import type { NewNoticeSettings, NoticeEvent, NoticeSettings } from './notice.ts'
import type { Quote, Run, RunList, RunRequest } from './run.ts'
import type { Seal, SealKeySet } from './seal.ts'
import type { DeletedUpload, PresignedUpload, PresignRequest, Upload, UploadList } from './upload.ts'
import type { UsageList } from './usage.ts'
import type { WebhookEvent, WebhookSecret, WebhookTestEvent } from './webhook.ts'

// Examples for the OpenAPI document. Tests validate them against their schemas, and compare them with real answers.

const CDN = 'https://api.example.com/cdn'

export const modelList: ModelList = {
  object: 'list',
  data: [
    {
      id: 'nano-banana-2',
      object: 'model_family',
      name: 'Nano Banana 2',
      aliases: ['nano'],
      output_type: 'image',
      status: 'public',
      mode: 'sync',
      credits_range: { min: 10, max: 81.5 },
      endpoints: [
        {
          id: 'nano-banana-2-t2i',
          kind: 't2i',
          mode: 'sync',
          status: 'public',
          available: true,
          description: 'Generates images from text, in 14 aspect ratios and up to 4K.',
          parameters_schema: {
            type: 'object',
            properties: {
              prompt: { type: 'string', title: 'Prompt', minLength: 1, maxLength: 20_000 },
              num_images: { type: 'integer', title: 'Number of images', minimum: 1, maximum: 4, default: 1 },
              resolution: { type: 'string', title: 'Resolution', enum: ['1K', '2K', '4K'], default: '1K' },
              enable_web_search: { type: 'boolean', title: 'Web search', default: false },
            },
            required: ['prompt'],
            additionalProperties: false,
            examples: [{ prompt: 'A lighthouse on a cliff in a storm, oil painting' }],
          },
          pricing: {
            base_credits: 10,
            quantities: ['num_images'],
            multipliers: { resolution: { '1K': 1, '2K': 1.5, '4K': 2 } },
            surcharges: [{ when: { parameter: 'enable_web_search', equals: true }, usd: 0.015, credits: 1.5 }],
          },
        },
      ],
    },
  ],
}

export const imageRequest: RunRequest = {
  model: 'nano-banana-2',
  input: { prompt: 'A quiet mountain lake at sunrise', resolution: '2K' },
}

export const editRequest: RunRequest = {
  model: 'nano-banana-2',
  input: {
    prompt: 'Make it winter',
    image_url: `${CDN}/uploads/efcb85226663123752bbd143221a15b4.jpg`,
  },
  metadata: { order: 17 },
}

export const videoRequest: RunRequest = {
  model: 'gemini-omni-flash',
  input: { prompt: 'Waves on a beach at night', duration: 4, resolution: '360p' },
  webhook_url: 'https://example.com/hooks/tollgate',
}

export const imageRun: Run = {
  object: 'run',
  run_id: 'run_01m7z4hp40enbs019v3tcadvdx',
  livemode: true,
  status: 'completed',
  model: 'nano-banana-2',
  endpoint: 'nano-banana-2-t2i',
  provider: 'sandbox',
  created_at: '2026-11-21T13:25:49.312Z',
  started_at: '2026-11-21T13:25:49.312Z',
  completed_at: '2026-11-21T13:25:49.589Z',
  credits_charged: 15,
  output: {
    urls: [`${CDN}/outputs/45d93e63b196ad2f3568870c00051596.png`],
    url: `${CDN}/outputs/45d93e63b196ad2f3568870c00051596.png`,
    provenance: [
      {
        sha256: '59e5f774f7f2619af0d576d03068a8e6b0f8b4cdcae1ee594ab832c59de51654',
        c2pa: 'absent',
        provider: 'sandbox',
        model: 'nano-banana-2',
      },
    ],
    will_delete_at: '2026-12-21T13:25:49.589Z',
  },
}

/** The same run with a test key. */
export const testRun: Run = {
  ...imageRun,
  run_id: 'run_01m7z4hw0ve2fr6zqk3n8d5s1c',
  livemode: false,
  credits_charged: 0,
  live_credits: imageRun.credits_charged,
}

export const text: Run = {
  object: 'run',
  run_id: 'run_01m7z4k2q1fprt8yj9a0b3c4d5',
  livemode: true,
  status: 'completed',
  model: 'gpt-6-1-terra',
  endpoint: 'gpt-6-1-terra-t2t',
  provider: 'sandbox',
  created_at: '2026-11-21T13:26:48.033Z',
  started_at: '2026-11-21T13:26:48.033Z',
  completed_at: '2026-11-21T13:26:48.201Z',
  credits_charged: 2.88,
  output: { text: 'A lake lies still before the sun.' },
}

export const processingRun: Run = {
  object: 'run',
  run_id: 'run_01m7z4m8h5e0sa2bq6w7r8t9v0',
  livemode: true,
  status: 'processing',
  model: 'gemini-omni-flash',
  endpoint: 'gemini-omni-flash-t2v',
  provider: 'sandbox',
  created_at: '2026-11-21T13:27:58.117Z',
  started_at: '2026-11-21T13:27:58.140Z',
  credits_charged: 12,
}

const { credits_charged, ...started } = processingRun

export const failed: Run = {
  ...started,
  status: 'failed',
  completed_at: '2026-11-21T13:28:31.902Z',
  credits_charged,
  credits_refunded: credits_charged,
  error: { code: 'provider_error', message: 'The provider did not respond.' },
}

export const cancelled: Run = {
  ...failed,
  error: { code: 'cancelled', message: 'The run was cancelled.' },
}

const imageInput = {
  ...imageRequest.input,
  num_images: 1,
  aspect_ratio: 'auto',
  output_format: 'png',
  enable_web_search: false,
  safety_tolerance: '4',
  seed: 1_630_446_417,
}

const textInput = {
  prompt: 'a lake',
  instructions: '',
  reasoning_effort: 'medium',
  verbosity: 'medium',
  max_output_tokens: 4096,
}

const videoInput = { ...videoRequest.input, aspect_ratio: '16:9' }

/** The same runs as they are shown with their inputs. */
export const runsWithInput = {
  image: { ...imageRun, input: imageInput },
  test: { ...testRun, input: imageInput },
  text: { ...text, input: textInput },
  processing: { ...processingRun, input: videoInput },
  failed: { ...failed, input: videoInput },
  cancelled: { ...cancelled, input: videoInput },
} satisfies Record<string, Run>

export const runList: RunList = {
  object: 'list',
  data: [processingRun, imageRun],
  has_more: true,
  next_cursor: 'run_01m7z4hp40enbs019v3tcadvdx',
}

export const quote: Quote = {
  object: 'quote',
  livemode: true,
  model: 'nano-banana-2',
  endpoint: 'nano-banana-2-t2i',
  credits: 31.5,
  lines: [
    { kind: 'base', credits: 10 },
    { kind: 'quantity', parameter: 'num_images', value: 2 },
    { kind: 'multiplier', parameter: 'resolution', value: '2K', factor: 1.5 },
    { kind: 'surcharge', parameter: 'enable_web_search', usd: 0.015, usd_per_credit: 0.01, credits: 1.5 },
  ],
}

export const runEvents = `retry:2000

event:run
id:7
data:${JSON.stringify(processingRun)}

event:progress
id:7
data:{"run_id":"${processingRun.run_id}","progress":0.4}

event:run
id:8
data:${JSON.stringify(failed)}

`

export const completedEvent: WebhookEvent = {
  type: 'run.completed',
  timestamp: '2026-11-21T13:25:49.589Z',
  livemode: true,
  data: imageRun,
}

export const failedEvent: WebhookEvent = {
  type: 'run.failed',
  timestamp: '2026-11-21T13:28:31.902Z',
  livemode: true,
  data: failed,
}

export const testEvent: WebhookTestEvent = {
  type: 'webhook.test',
  timestamp: '2026-11-21T13:27:10.118Z',
  livemode: true,
  data: { message: 'This is a test. It concerns no run.' },
}

export const balance: Balance = { object: 'balance', credits_balance: 87.5 }

export const seal: Seal = {
  object: 'seal',
  number: 13,
  name: '13:sha256-314549302776e7520f4694a6cd9dd642ccf476529768041c8d5a777279ffdc65',
  link: '75bade1d404ad40e9de2e81758e38a49e78bad034c476b9be573306170336c66',
  data: {
    number: 13,
    events: 61,
    streams: 3,
    position: 22_050,
    root: '99ec9010ea3223d12b58c6e908d1eb092f9cee3bc51cde1d9522218e62887a1d',
    earlier: '611c62e0145d615f0c379b8315eac4b9337895ff8781aaa7acf01028c793e36a',
    previous: '4c9955cb6df6d1eb31575c67f0d88c145eff4f586bbcc27796618c98987e8b8f',
    at: '2026-11-23T21:36:09.597Z',
    keyId: 'urS23s2bOIjWYR5fmwfA2UwK3FwCMYDUlsZDmtgZdWo',
    signature: 'xErzC7jYqACRtdUfxKfNYGPB7V_962ZbhnWMlXRZxe2019M16N9Y8rExD6KUmxvJuUtIiO0_JYgjJaCfWt0IBA',
  },
}

export const sealKeys: SealKeySet = {
  keys: [
    { kty: 'OKP', crv: 'Ed25519', x: 'cR3n0hjBf9U4dzlvKfPThTDwtz0VIwwqem84PwfVEYI', kid: seal.data.keyId, use: 'sig' },
  ],
}

const debitLine: LedgerLine = {
  object: 'ledger_line',
  event_id: '93a5b6c7-d8e9-4fa0-9b2c-3d4e5f607182',
  revision: 4,
  created_at: '2026-11-21T13:25:49.312Z',
  kind: 'debit',
  credits: -15,
  credits_balance: 85,
  run_id: 'run_01m7z4hp40enbs019v3tcadvdx',
  model: 'nano-banana-2',
  endpoint: 'nano-banana-2-t2i',
  lines: [
    { kind: 'base', credits: 10 },
    { kind: 'quantity', parameter: 'num_images', value: 1 },
    { kind: 'multiplier', parameter: 'resolution', value: '2K', factor: 1.5 },
  ],
  key_id: 'key_01m820ba0efvgrrk8fytq86g1b',
}

const grantLine: LedgerLine = {
  object: 'ledger_line',
  event_id: '8294a5b6-c7d8-4e9f-8a1b-2c3d4e5f6071',
  revision: 1,
  created_at: '2026-11-20T09:00:00.000Z',
  kind: 'grant',
  credits: 100,
  credits_balance: 100,
  grant_kind: 'welcome',
  reference: 'welcome',
  reason: 'welcome',
}

export const ledgerList: LedgerList = {
  object: 'list',
  data: [debitLine, grantLine],
  has_more: false,
  next_cursor: null,
}

export const ledgerExport = [grantLine, debitLine].map(line => `${JSON.stringify(line)}\n`).join('')

export const usageList: UsageList = {
  object: 'list',
  data: [
    {
      object: 'usage',
      day: '2026-11-21',
      model: 'gemini-omni-flash',
      runs: 1,
      failures: 1,
      credits_charged: 12,
      credits_refunded: 12,
      credits: 0,
    },
    {
      object: 'usage',
      day: '2026-11-21',
      model: 'nano-banana-2',
      runs: 1,
      failures: 0,
      credits_charged: 15,
      credits_refunded: 0,
      credits: 15,
    },
  ],
  has_more: false,
  next_cursor: null,
  from: '2026-10-23',
  to: '2026-11-22',
}

export const upload: Upload = {
  object: 'upload',
  id: 'upl_01m7zse8a8fewa24xyrw6y4p0d',
  url: `${CDN}/uploads/efcb85226663123752bbd143221a15b4.jpg`,
  size_bytes: 154_765,
  mime_type: 'image/jpeg',
  filename: 'lake.jpg',
  folder_path: 'photos/2026',
  sha256: '59e5f774f7f2619af0d576d03068a8e6b0f8b4cdcae1ee594ab832c59de51654',
  created_at: '2026-11-21T19:30:56.968Z',
  will_delete_at: '2026-11-28T19:30:56.968Z',
}

export const uploadList: UploadList = { object: 'list', data: [upload], has_more: false, next_cursor: null }

export const deletedUpload: DeletedUpload = { object: 'upload', id: upload.id, deleted: true }

export const presignRequest: PresignRequest = { filename: 'lake.jpg', mime_type: 'image/jpeg', size_bytes: 154_765 }

export const presigned: PresignedUpload = {
  id: 'upl_01m7zse9kefewa24y8756jwc39',
  presigned_url: [
    `${CDN}/uploads/f085391ad091fee240dc7613f1a01477.jpg?expires=1795290358286&type=image%2Fjpeg&max=52428800`,
    '&for=acct_01m7zrz0rwf1p9rq2k1wxs5w0q.upl_01m7zse9kefewa24y8756jwc39.key_01m7zrz0s2e4tb5ay8rd9kxq3n',
    '&signature=56e8d17cd2c804dcf2aa2efe89aed4e4b14883a62865ce20b0449c4bc01f1546',
  ].join(''),
  cdn_url: `${CDN}/uploads/f085391ad091fee240dc7613f1a01477.jpg`,
  method: 'PUT',
  expires_at: '2026-11-21T19:45:58.286Z',
  will_delete_at: '2026-11-28T19:30:58.286Z',
  max_size_bytes: 52_428_800,
}

export const webhookSecret: WebhookSecret = {
  object: 'webhook_secret',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwXqk0Sk1hSy4=',
}

export const rotatedSecret: WebhookSecret = {
  object: 'webhook_secret',
  secret: 'whsec_zBZPcKcFqvxRBlGvFnGfTi1vOPTIpQOHUUpuOJPmSHo=',
  previous_secret_signs_until: '2026-11-22T13:25:49.312Z',
}

export const delivery: WebhookDelivery = {
  object: 'webhook_delivery',
  livemode: true,
  webhook_id: 'msg_01m7z4hp40enbs019v3tcadvdx',
  run_id: 'run_01m7z4hp40enbs019v3tcadvdx',
  url: 'https://example.com/hooks/tollgate',
  status: 'delivered',
  attempts: [
    {
      attempt: 1,
      at: '2026-11-21T13:25:49.702Z',
      status_code: 503,
      error: 'The receiver answered with 503.',
      next_attempt_at: '2026-11-21T13:25:54.911Z',
    },
    { attempt: 2, at: '2026-11-21T13:25:55.024Z', status_code: 204 },
  ],
}

export const resent: WebhookDelivery = {
  ...delivery,
  status: 'pending',
  next_attempt_at: '2026-11-21T14:02:11.530Z',
}

export const deliveryList: WebhookDeliveryList = {
  object: 'list',
  data: [delivery],
  has_more: false,
  next_cursor: null,
}

export const webhookTestRequest: WebhookTestRequest = { url: 'https://example.com/hooks/tollgate' }

export const webhookTest: WebhookTest = {
  object: 'webhook_test',
  webhook_id: 'msg_01m7z4k9nye2prr7j1sq5g0f8c',
  url: 'https://example.com/hooks/tollgate',
  delivered: true,
  status_code: 204,
  latency_ms: 87,
  message: 'The receiver accepted the test with 204.',
}

export const failedWebhookTest: WebhookTest = {
  object: 'webhook_test',
  webhook_id: 'msg_01m7z4m3xvf9tbn4d2z0wqk6ha',
  url: 'https://example.com/hooks/tollgate',
  delivered: false,
  latency_ms: 15_000,
  message: 'The address did not respond completely within 15000 ms.',
}

export const health: Health = { status: 'ok' }

export const readiness: Readiness = {
  status: 'ready',
  log: 'ok',
  views: 'ok',
  objects: 'ok',
  disk: 'ok',
  events_behind: 0,
  free_bytes: 48_318_382_080,
}

export const newKey: NewKey = {
  name: 'website',
  expires_at: '2027-01-01',
  budget: { credits: 50, period: 'month' },
  models: ['nano-banana-2'],
  addresses: ['203.0.113.7'],
}

export const apiKey: ApiKey = {
  object: 'api_key',
  id: 'key_01m7z4hp3ye9bv5nfwqzm2r6ja',
  name: 'website',
  livemode: true,
  scope: 'full',
  last_four: '9f3c',
  created_at: '2026-11-21T13:20:07.113Z',
  created_by: 'owner',
  expires_at: '2027-01-01T00:00:00.000Z',
  last_used_at: '2026-11-21T13:25:49.312Z',
  budget: {
    credits: 50,
    period: 'month',
    spent_credits: 12.5,
    credits_left: 37.5,
    renews_at: '2026-12-01T00:00:00.000Z',
  },
  models: ['nano-banana-2'],
  addresses: ['203.0.113.7/32'],
}

export const ownKey: OwnKey = {
  ...apiKey,
  limits: {
    requests_per_minute: { key: 6000, account: 12_000 },
    runs_in_flight: { key: 5000, account: 10_000 },
  },
}

const { last_used_at: _, ...unusedKey } = apiKey

export const createdKey: CreatedKey = {
  ...unusedKey,
  budget: {
    credits: 50,
    period: 'month',
    spent_credits: 0,
    credits_left: 50,
    renews_at: '2026-12-01T00:00:00.000Z',
  },
  api_key: 'tg_sk_live_5f0c8d2be7a94c6f8b1d3e5a7c9f9f3c',
}

export const newTestKey: NewKey = { name: 'tests', livemode: false }

export const createdTestKey: CreatedKey = {
  object: 'api_key',
  id: 'key_01m7z4jq8sf9rvh2d6c0w5xk3e',
  name: 'tests',
  livemode: false,
  scope: 'full',
  last_four: '71d0',
  created_at: '2026-11-21T13:21:30.482Z',
  created_by: 'owner',
  api_key: 'tg_sk_test_b81f4e06c29d4a7780e35d1c6fa271d0',
}

export const keyList: KeyList = { object: 'list', data: [apiKey], has_more: false, next_cursor: null }

export const revokedKey: RevokedKey = { object: 'api_key', id: apiKey.id, revoked: true }

export const noticesRequest: NewNoticeSettings = {
  url: 'https://example.com/hooks/tollgate',
  balance_under_credits: 25,
}

export const noticeSettings: NoticeSettings = {
  object: 'notice_settings',
  email: true,
  email_address: 'ada@example.com',
  url: 'https://example.com/hooks/tollgate',
  balance_under_credits: 25,
}

const budgetUse = {
  key_id: 'key_01m7z4hp3ye9bv5nfwqzm2r6ja',
  budget_credits: 50,
  renews_at: '2026-12-01T00:00:00.000Z',
} as const

export const noticeEvents: { [Type in NoticeEvent['type']]: Extract<NoticeEvent, { type: Type }> } = {
  'balance.low': {
    type: 'balance.low',
    timestamp: '2026-11-25T09:12:29.412Z',
    data: { credits_balance: 24.5, under_credits: 25 },
  },
  'budget.warning': {
    type: 'budget.warning',
    timestamp: '2026-11-25T09:12:29.412Z',
    data: { ...budgetUse, spent_credits: 40 },
  },
  'budget.exhausted': {
    type: 'budget.exhausted',
    timestamp: '2026-11-25T09:14:02.117Z',
    data: { ...budgetUse, spent_credits: 50 },
  },
  'key.expiring': {
    type: 'key.expiring',
    timestamp: '2026-11-25T00:00:00.214Z',
    data: { key_id: budgetUse.key_id, expires_at: '2026-12-02T00:00:00.000Z' },
  },
  'model.retiring': {
    type: 'model.retiring',
    timestamp: '2026-12-07T00:00:00.214Z',
    data: { model: 'gemini-3-flash', endpoints: ['gemini-3-flash-t2t'], retires_at: '2027-01-06T00:00:00.000Z' },
  },
}
