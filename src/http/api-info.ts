import type { Tag } from './operation.ts'

/** The version of the interface, not that of the software. */
const API_VERSION = '0.2.0'

/** What the interface is, in the words of OpenAPI's Info Object; every description begins with it. */
export const info = {
  title: 'Tollgate',
  version: API_VERSION,
  summary: 'Runs AI generation models and charges credits.',
  description:
    'Runs image, video, audio and text models, and charges credits for it. Every debit is explained by a receipt, a failed run is given back in full, and a request that is repeated with its `Idempotency-Key` is charged once.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
}

const purposes: Record<Tag, string> = {
  Models: 'What can be run, with what, and what it costs.',
  Runs: 'Running models.',
  Account: 'The account that the key belongs to.',
  Uploads: 'Files to be used as input.',
  Webhooks: 'How receivers are told that a run has ended.',
  Files: 'Results and uploads, open to whoever has their address.',
  Agents: 'For agents, and for tools that read descriptions.',
  Service: 'How the service is.',
}

export const tags = Object.entries(purposes).map(([name, description]) => ({ name, description }))
