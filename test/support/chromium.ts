import type { Browser } from 'playwright-core'
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
