import type { EventLog } from '../../../src/ports/event-log.ts'
import { type Outbound, OutboundError } from '../../../src/ports/outbound.ts'
import type { Payments } from '../../../src/ports/payments.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import type { StoredViews } from '../../../src/ports/view-store.ts'
import type { Wire } from './wire.ts'

// The ports of a process, each with a wire between the process and what is behind the port.

export const logOverWire = (wire: Wire, log: EventLog): EventLog => ({
  append: (stream, events, expectedRevision) =>
    wire.call(`append ${stream}`, () => log.append(stream, events, expectedRevision), inDoubt),
  readStream: (stream, from) => wire.pages(`read ${stream}`, log.readStream(stream, from)),
  readEvent: (stream, revision) =>
    wire.call(`read event ${revision} of ${stream}`, () => log.readEvent(stream, revision)),
  readAll: after => wire.pages('read all', log.readAll(after)),
  follow: (after, signal) => wire.subscription('follow', log.follow(after, signal), signal),
  head: () => wire.call('head', () => log.head()),
  close: async () => undefined,
})

export const viewsOverWire = (wire: Wire, views: StoredViews): StoredViews => ({
  checkpoint: () => wire.call('checkpoint', () => views.checkpoint()),
  get: (view, key) => wire.call('get', () => views.get(view, key)),
  getMany: rows => wire.call('get many', () => views.getMany(rows)),
  list: (view, index, range) => wire.call(`list ${view}`, () => views.list(view, index, range)),
  commit: batch => wire.call('commit', () => views.commit(batch)),
  lease: (...lease) => wire.call('lease', () => views.lease(...lease)),
  release: (...lease) => wire.call('release', () => views.release(...lease)),
  report: (...report) => wire.call('report', () => views.report(...report)),
  reports: () => wire.call('reports', () => views.reports()),
  loadSnapshot: stream => wire.call('load snapshot', () => views.loadSnapshot(stream)),
  saveSnapshot: (stream, snapshot) => wire.call('save snapshot', () => views.saveSnapshot(stream, snapshot)),
  deleteSnapshots: stream => wire.call('delete snapshots', () => views.deleteSnapshots(stream)),
  loadNodes: keys => wire.call('load nodes', () => views.loadNodes(keys)),
  saveNodes: nodes => wire.call('save nodes', () => views.saveNodes(nodes)),
  clearNodes: () => wire.call('clear nodes', () => views.clearNodes()),
  dump: () => wire.call('dump', () => views.dump()),
  replaceCells: (...cells) => wire.call('replace cells', () => views.replaceCells(...cells)),
  clear: () => wire.call('clear', () => views.clear()),
  close: async () => undefined,
})

export const outboundOverWire = (wire: Wire, outbound: Outbound): Outbound => ({
  ...outbound,
  post: (url, request) =>
    wire
      .call(
        `post ${request.headers['webhook-id']}`,
        () => outbound.post(url, request),
        () => new OutboundError('failed', 'The receiver did not answer.'),
      )
      .catch(error => {
        throw error instanceof OutboundError ? error : new OutboundError('failed', 'The receiver is overloaded.')
      }),
})

export const providerOverWire = (wire: Wire, { submit, poll, cancel, ...rest }: Provider): Provider => ({
  ...rest,
  submit: ({ onText, ...job }, signal) => {
    // Nobody listens to the answer to a repeated request.
    const listeners = onText ? [wire.oneWay(onText)] : []
    return wire.call(`submit ${job.runId}`, () => {
      const [listener] = listeners.splice(0)
      return submit({ ...job, ...(listener && { onText: listener }) }, signal)
    })
  },
  ...(poll && { poll: (job, signal) => wire.call(`poll ${job.runId}`, () => poll(job, signal)) }),
  ...(cancel && { cancel: (job, signal) => wire.call(`cancel ${job.runId}`, () => cancel(job, signal)) }),
})

export const paymentsOverWire = (wire: Wire, payments: Payments): Payments => ({
  ...payments,
  open: checkout => wire.call(`open ${checkout.purchaseId}`, () => payments.open(checkout)),
  find: sessionId => wire.call(`find ${sessionId}`, () => payments.find(sessionId)),
  refund: request => wire.call(`refund ${request.refundKey}`, () => payments.refund(request)),
  refundsOf: paymentId => wire.call(`refunds of ${paymentId}`, () => payments.refundsOf(paymentId)),
  findDispute: disputeId => wire.call(`find ${disputeId}`, () => payments.findDispute(disputeId)),
  charge: charge => wire.call(`charge ${charge.chargeKey}`, () => payments.charge(charge)),
  findCharge: (customerId, chargeKey) =>
    wire.call(`find charge ${chargeKey}`, () => payments.findCharge(customerId, chargeKey)),
  paymentOf: paymentId => wire.call(`find ${paymentId}`, () => payments.paymentOf(paymentId)),
})

/** An append whose answer is lost may have been written. */
const inDoubt = () => new Error('the log did not answer an append')
