import type { Tag } from '../operation.ts'

/** The version of Tollgate and of its API, as in package.json, which is not a part of the build. */
const VERSION = '0.2.0'

/** The Info Object of the OpenAPI document without the title, which is the name of the service. */
export const info = {
  version: VERSION,
  summary: 'Runs AI generation models and charges credits.',
  description: [
    'Runs image, video, audio and text models, and charges credits for each run.',
    'Every debit has a receipt. Failed runs are refunded in full.',
    'A request repeated with its `Idempotency-Key` is charged once.',
  ].join(' '),
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
}

const purposes: Record<Tag, string> = {
  Models: 'The models, their parameters and their prices.',
  Runs: 'Run models, and follow or cancel runs.',
  OpenAI: 'The routes of OpenAI’s API, for its clients.',
  Account: 'The account that owns the API key.',
  Keys: 'API keys and their limits.',
  Budgets: 'Limits that runs name: for a task, or a customer of the account.',
  Ledger: 'Seals and proofs that the log behind all balances is unchanged.',
  Uploads: 'Files to use as input.',
  Webhooks: 'Notifications about ended runs, balances, budgets and keys.',
  Files: 'Results and uploads, readable by anyone with their URL.',
  Audit: 'All accounts, for auditors. The keys of auditors work on no other routes.',
  Agents: 'The MCP server and machine-readable descriptions.',
  Service: 'The health of the service.',
}

export const tags = Object.entries(purposes).map(([name, description]) => ({ name, description }))
