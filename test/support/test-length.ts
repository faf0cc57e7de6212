/** The length of tests that repeat something at random or for many cases. `npm run test:long` runs them in full. */
export const isLong = process.env['TEST_LENGTH'] === 'long'

/** A process with tests is ended after this time: twice what the longest ones take on a busy machine with two processors. */
export const PROCESS_TIMEOUT_MS = 600_000
