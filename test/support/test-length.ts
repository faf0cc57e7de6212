/** The length of tests that repeat something at random or for many cases. `npm run test:long` runs them in full. */
export const isLong = process.env['TEST_LENGTH'] === 'long'

/** A test fails after this time: twice what the longest ones take on a busy machine with two processors. */
export const TEST_TIMEOUT_MS = 600_000

/** A process that ends no test in this time is ended. Longer than a test may take, so that the test is named. */
export const PROCESS_TIMEOUT_MS = 660_000
