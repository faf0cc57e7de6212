import type { AuditedAccountList, AuditedReadList, SealList, Verification } from './audit.ts'
import { seal } from './examples.ts'

// Examples of what auditors read. Tests validate them against their schemas.

const account = 'acct_01m820b9ztfvgrrk74p12fwn4g'

export const auditedAccounts: AuditedAccountList = {
  object: 'list',
  data: [
    {
      object: 'account',
      account_id: account,
      email: 'ada@example.com',
      tester: false,
      opened_at: '2026-11-20T09:00:00.000Z',
      suspended: false,
      credits_balance: 85,
      revision: 5,
      link: '4c9955cb6df6d1eb31575c67f0d88c145eff4f586bbcc27796618c98987e8b8f',
    },
  ],
  has_more: false,
  next_cursor: null,
}

export const sealList: SealList = { object: 'list', data: [seal], has_more: true, next_cursor: '13' }

export const auditedReads: AuditedReadList = {
  object: 'list',
  data: [
    {
      object: 'audit_read',
      event_id: '8294a5b6-c7d8-4e9f-8a1b-2c3d4e5f6071',
      revision: 17,
      created_at: '2026-11-24T09:30:00.000Z',
      auditor_id: 'aud_01m85d0k2hf0ytjq3b4x8w6a9c',
      auditor: 'ada',
      route: 'ledger',
      parameters: { account, limit: 50 },
      request_id: 'a969a179-30ad-4dcb-8baa-b78e9b9a7159',
    },
  ],
  has_more: true,
  next_cursor: '17',
}

export const verification: Verification = {
  object: 'verification',
  account_id: null,
  valid: true,
  position: 22_050,
  events: 22_051,
  streams: 12,
  newest_at: '2026-11-24T09:29:58.401Z',
  seal: {
    seal: seal.name,
    events: seal.data.events,
    at: seal.data.at,
  },
  unsealed_events: 12,
  faults_total: 0,
  faults: [],
  notes_total: 0,
  notes: [],
}
