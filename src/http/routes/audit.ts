import {
  AuditedAccountList,
  AuditedAccountsQuery,
  AuditedLedgerQuery,
  AuditedReadList,
  RevisionsQuery,
  SealList,
  Verification,
  VerificationQuery,
} from '../../../schemas/api/audit.ts'
import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { LedgerList } from '../../../schemas/api/ledger.ts'
import { limitOf, showPage } from '../../transports/list-page.ts'
import { periodOf } from '../../transports/moment.ts'
import { unwrap } from '../../transports/refusals.ts'
import { slowJson } from '../answers/slow-json.ts'
import { disconnectSignal, waitingClient } from '../connections/disconnect.ts'
import { route } from '../route.ts'

const RECORDED = 'Needs the key of an auditor. The log records the request before it is answered.'

const auditAccounts = route({
  id: 'auditAccounts',
  method: 'get',
  path: '/v1/audit/accounts',
  tag: 'Audit',
  summary: 'List all accounts with their balances, newest first',
  description: [
    'Each balance is the balance after the last event of the account. The item names the revision and link of that',
    'event.',
    RECORDED,
  ].join(' '),
  auth: 'auditor key',
  query: AuditedAccountsQuery,
  responses: {
    200: {
      description: 'A page of accounts.',
      shape: AuditedAccountList,
      examples: { 'First page': examples.auditedAccounts },
    },
  },
  serve: async (ctx, { audit }, { query }) => {
    const asked = { limit: limitOf(query), cursor: query.cursor }
    const page = unwrap(await audit.accounts(ctx.state.auditor, asked, query, waitingClient(ctx)))
    ctx.body = showPage(page, account => account) satisfies AuditedAccountList
  },
})

const auditLedger = route({
  id: 'auditLedger',
  method: 'get',
  path: '/v1/audit/ledger',
  asks: true,
  tag: 'Audit',
  summary: 'List the lines of the ledger of an account, newest first',
  description: ['Returns the same lines as `GET /v1/ledger` of the account.', RECORDED].join(' '),
  auth: 'auditor key',
  query: AuditedLedgerQuery,
  responses: {
    200: { description: 'A page of lines.', shape: LedgerList, examples: { 'First page': examples.ledgerList } },
  },
  errors: ['not_found'],
  serve: async (ctx, { audit, present }, { query }) => {
    const { account, kind, cursor } = query
    const asked = { ...periodOf(query), kind, cursor, limit: limitOf(query) }
    const page = unwrap(await audit.ledger(ctx.state.auditor, account, asked, query, waitingClient(ctx)))
    ctx.body = showPage(page, entry => present.ledgerLine(entry)) satisfies LedgerList
  },
})

const auditSeals = route({
  id: 'auditSeals',
  method: 'get',
  path: '/v1/audit/seals',
  tag: 'Audit',
  summary: 'List the seals of the log, newest first',
  description: ['Returns each seal as `GET /v1/ledger/seal` does.', RECORDED].join(' '),
  auth: 'auditor key',
  query: RevisionsQuery,
  responses: {
    200: { description: 'A page of seals.', shape: SealList, examples: { 'First page': examples.sealList } },
  },
  serve: async (ctx, { audit }, { query }) => {
    const asked = { limit: limitOf(query), cursor: query.cursor }
    ctx.body = showPage(unwrap(await audit.seals(ctx.state.auditor, asked, query)), seal => seal) satisfies SealList
  },
})

const auditReads = route({
  id: 'auditReads',
  method: 'get',
  path: '/v1/audit/reads',
  tag: 'Audit',
  summary: 'List the requests of auditors, newest first',
  description: ['Returns each request, its auditor and its time. No request changes the record.', RECORDED].join(' '),
  auth: 'auditor key',
  query: RevisionsQuery,
  responses: {
    200: {
      description: 'A page of the record.',
      shape: AuditedReadList,
      examples: { 'First page': examples.auditedReads },
    },
  },
  serve: async (ctx, { audit }, { query }) => {
    const asked = { limit: limitOf(query), cursor: query.cursor }
    const page = unwrap(await audit.reads(ctx.state.auditor, asked, query))
    ctx.body = showPage(page, read => read) satisfies AuditedReadList
  },
})

const auditVerify = route({
  id: 'auditVerify',
  method: 'get',
  path: '/v1/audit/verify',
  tag: 'Audit',
  summary: 'Verify the log',
  description: [
    'Checks the log as it was when the request began, or one account of it, like `tollgate audit verify`.',
    'A million events take about 10 seconds. Until the JSON follows, the service sends white space, so that the',
    'connection stays open. The service cuts the connection if the verification cannot be completed or takes more than',
    '15 minutes. Only one verification runs at a time. Closing the connection ends the verification.',
    RECORDED,
  ].join(' '),
  auth: 'auditor key',
  query: VerificationQuery,
  responses: {
    200: { description: 'The findings.', shape: Verification, examples: { 'No fault': examples.verification } },
  },
  errors: ['not_found'],
  serve: async (ctx, { audit, clock }, { query }) => {
    if (ctx.method === 'HEAD') {
      ctx.type = 'application/json'
      ctx.status = 200
      return
    }
    const { verification } = unwrap(await audit.verify(ctx.state.auditor, query, disconnectSignal(ctx)))
    await slowJson(ctx, clock, verification.then(unwrap))
  },
})

export const auditRoutes = [auditAccounts, auditLedger, auditSeals, auditReads, auditVerify]
