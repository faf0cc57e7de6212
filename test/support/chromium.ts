import type { Browser, ConsoleMessage } from 'playwright-core'
import { chromium } from 'playwright-core'
import type { Test } from 'tap'

/** Debian's package. Nothing is downloaded. */
const CHROMIUM = '/usr/bin/chromium'

/** Longer than anything takes on a busy machine, such as the first picture of a new service. */
export const PATIENCE_MS = 180_000

/** A headless browser that ends with the test. */
export const openBrowser = async (t: Test): Promise<Browser> => {
  // The sandbox needs rights that containers lack.
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  t.teardown(() => browser.close())
  const open = browser.newContext.bind(browser)
  browser.newContext = async options => {
    const context = await open(options)
    context.setDefaultTimeout(PATIENCE_MS)
    return context
  }
  return browser
}

/**
 * Whether a browser complains. htmx reports a request that a newer one replaces, and an answer whose place is gone, as
 * errors.
 */
export const isComplaint = (message: ConsoleMessage): boolean =>
  ['error', 'warning'].includes(message.type()) &&
  !/^htmx:(afterRequest|sendAbort|oobErrorNoTarget)\b/.test(message.text())
