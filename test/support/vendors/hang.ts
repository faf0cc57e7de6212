import type { Test } from 'tap'
import { until, withDeadline } from '../until.ts'
import type { VendorServer } from './vendor-server.ts'

/** Aborts a call when so many of its requests have reached a stub that does not answer. The call must then end. */
export const endsWithSignal = async (
  t: Test,
  { requests }: Pick<VendorServer, 'requests'>,
  call: (signal: AbortSignal) => Promise<unknown> | undefined,
  count = 1,
): Promise<void> => {
  const expected = requests.length + count
  const stop = new AbortController()
  const called = Promise.resolve(call(stop.signal))
  called.catch(() => undefined)
  await until('the request has arrived', () => requests.length === expected)
  stop.abort()
  await t.rejects(withDeadline('the call ends', called), /abort/i)
}
