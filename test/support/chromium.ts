import type { Browser, ConsoleMessage } from 'playwright-core'
import { chromium } from 'playwright-core'
import type { Test } from 'tap'

/** Debian's package. Nothing is downloaded. */
const CHROMIUM = '/usr/bin/chromium'

/** A headless browser that ends with the test. */
export const openBrowser = async (t: Test): Promise<Browser> => {
  // The sandbox needs rights that containers lack.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  t.teardown(() => browser.close())
  return browser
}

/**
 * Whether a browser complains. htmx reports a request that a newer one replaces, and an answer whose place is gone, as
 * errors.
 */
export const isComplaint = (message: ConsoleMessage): boolean =>
  ['error', 'warning'].includes(message.type()) &&
  !/^htmx:(afterRequest|sendAbort|oobErrorNoTarget)\b/.test(message.text())
