import { type Static, Type } from 'typebox'
import { ActorName } from '../actor.ts'
import { AuditorRead } from '../auditor-events.ts'
import { AccountId, AuditorId, Closed, Sha256, Uuid } from '../primitives.ts'
import { about } from './about.ts'
import { Timestamp } from './common.ts'
import { LedgerQuery } from './ledger.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'
import { Seal, SealName } from './seal.ts'

const Count = Type.Integer({ minimum: 0 })

const Account = about(AccountId, 'The ID of an account.', 'acct_01m820b9ztfvgrrk74p12fwn4g')

/** An account as auditors see it. The ledger of the account holds all other facts. */
export const AuditedAccount = Closed({
  object: Type.Literal('account'),
  account_id: Account,
  email: about(
    Type.Union([Type.String(), Type.Null()]),
    'The address of the owner; null if the account was opened with Telegram.',
    'ada@example.com',
  ),
  tester: about(Type.Boolean(), 'Whether the account may run test models.'),
  opened_at: about(Timestamp, 'When the account was opened.'),
  suspended: about(Type.Boolean(), 'Whether the operator has suspended the account.'),
  credits_balance: about(
    Type.Number(),
    'The balance after the last event, computed from all events of the account.',
    68.5,
  ),
  revision: about(Count, 'The revision of the last event of the account.', 41),
  link: about(Sha256, 'The link of the last event, which covers all events of the account.'),
})
export type AuditedAccount = Static<typeof AuditedAccount>

export const AuditedAccountList = ListOf(AuditedAccount, AccountId)
export type AuditedAccountList = Static<typeof AuditedAccountList>

export const AuditedAccountsQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(AccountId)),
})

export const AuditedLedgerQuery = Closed({
  account: about(AccountId, 'The account whose lines to list.', 'acct_01m820b9ztfvgrrk74p12fwn4g'),
  ...LedgerQuery.properties,
})

/** The revision of an event as text. */
const RevisionCursor = Type.String({ pattern: '^(0|[1-9][0-9]{0,14})$' })

export const RevisionsQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(RevisionCursor)),
})

export const SealList = ListOf(Seal, RevisionCursor)
export type SealList = Static<typeof SealList>

const { route, parameters } = AuditorRead.properties

/** The record of a request by an auditor. */
export const AuditedRead = Closed({
  object: Type.Literal('audit_read'),
  event_id: about(Uuid, 'The ID of the event in the log.', '8294a5b6-c7d8-4e9f-8a1b-2c3d4e5f6071'),
  revision: about(Count, 'The revision of the event in the stream of these records.', 17),
  created_at: about(Timestamp, 'When the auditor sent the request.'),
  auditor_id: about(AuditorId, 'The ID of the auditor.', 'aud_01m85d0k2hf0ytjq3b4x8w6a9c'),
  auditor: about(ActorName, 'The name of the auditor.', 'ada'),
  route: about(route, 'The part of the path after `/v1/audit/`.', 'ledger'),
  parameters: about(parameters, 'The parameters of the request.', { limit: 50 }),
  request_id: Type.Optional(about(Type.String(), 'The ID of the request.', 'a969a179-30ad-4dcb-8baa-b78e9b9a7159')),
})
export type AuditedRead = Static<typeof AuditedRead>

export const AuditedReadList = ListOf(AuditedRead, RevisionCursor)
export type AuditedReadList = Static<typeof AuditedReadList>

export const VerificationQuery = Closed({
  account: Type.Optional(about(AccountId, 'Checks only this account. Omit it for the whole log.')),
})

/** The most faults in a response. A fault takes about 300 bytes, and a damaged log may have millions of faults. */
export const MAX_FAULTS = 1000

const Finding = Closed({
  stream: about(Type.String(), 'The stream with the finding.', 'account-acct_01m820b9ztfvgrrk74p12fwn4g'),
  revision: about(
    Type.Union([Type.Integer(), Type.Null()]),
    'The revision of the event; null if the finding concerns no single event.',
  ),
  position: about(Type.Union([Type.Integer(), Type.Null()]), 'The position of the event in the log.'),
  event_id: about(Type.Union([Type.String(), Type.Null()]), 'The ID of the event, as recorded in the log.'),
  fault: about(Type.String(), 'The finding in words.', 'its link does not match what was written'),
})

const CoveringSeal = Closed({
  seal: about(SealName, 'The name of the newest seal.'),
  events: about(Count, 'The number of events that the seal covers.'),
  at: about(Timestamp, 'When the log was sealed.'),
})

/** The findings of a verification. */
export const Verification = Closed({
  object: Type.Literal('verification'),
  account_id: about(Type.Union([AccountId, Type.Null()]), 'The account that was checked; null for the whole log.'),
  valid: about(Type.Boolean(), 'Whether the verification found no fault.'),
  position: about(
    Type.Integer(),
    'The position of the last event when the verification began. Later events were not checked.',
  ),
  events: about(Count, 'The number of checked events.'),
  streams: about(Count, 'The number of checked streams.'),
  newest_at: about(Type.Union([Timestamp, Type.Null()]), 'The time of the newest checked event.'),
  seal: about(
    Type.Union([CoveringSeal, Type.Null()]),
    'The newest seal; null if the log has no seal, or if only one account was checked.',
  ),
  unsealed_events: about(
    Type.Union([Count, Type.Null()]),
    'The number of checked events that the seal does not cover; null if only one account was checked.',
  ),
  faults_total: about(Count, 'The number of faults.'),
  faults: about(Type.Array(Finding, { maxItems: MAX_FAULTS }), `The first faults, at most ${MAX_FAULTS}.`),
  notes_total: about(Count, 'The number of notes.'),
  notes: about(
    Type.Array(Finding, { maxItems: MAX_FAULTS }),
    `Unusual findings that do not prove a fault. At most the first ${MAX_FAULTS}.`,
  ),
})
export type Verification = Static<typeof Verification>
